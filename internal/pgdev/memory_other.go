//go:build !linux

package pgdev

func memoryFolder() string { return "" }

func mountMemory(string) bool { return false }

func unmountMemory(string) error { return nil }
