package main

import (
	"github.com/nexuspg/nexus"
	"github.com/nexuspg/nexus/queue"
)

// Order is what a customer orders.
type Order struct {
	ID       int64  `json:"id"`
	Customer string `json:"customer"` // an address for mails
	Items    int    `json:"items"`
}

// Mail is one to be sent.
type Mail struct {
	To   string `json:"to"`
	Body string `json:"body"`
}

// Report says who reads it.
type Report struct {
	To string `json:"to"`
}

// The events of this service.
const (
	OrderPlaced   nexus.EventType[Order]  = "order.placed"
	MailRequested nexus.EventType[Mail]   = "mail.requested"
	ReportDue     nexus.EventType[Report] = "report.due"
)

const namespace = nexus.Namespace("shop")

var bus = queue.Emitter{Namespace: namespace}
