package cli

import (
	"github.com/spf13/cobra"
)

func newConfig(s *session) *cobra.Command {
	return &cobra.Command{
		Use:   "config",
		Short: "List every setting with its value, its default and where the value comes from",
		Long: `List every setting: the variable, the value in use, the default and where the value comes from. Passwords are not
shown. With -o json each setting also says what it is for and which values it takes.

CORE_DATABASE_URL, CORE_NAMESPACE, CORE_NODE_ID, CORE_IDLE_POLL_INTERVAL_MS, CORE_VISIBILITY_TIMEOUT_SECONDS and
CORE_BATCH_SIZE are read where the NEXUS_ variable is not set.`,
		Example: `  nexus-node config
  nexus-node config -o json`,
		Args: cobra.NoArgs,
		RunE: func(cmd *cobra.Command, _ []string) error {
			cfg, err := s.load(cmd)
			if err != nil {
				return err
			}
			settings := cfg.Settings()
			if s.format == asJSON {
				return s.printJSON(settings)
			}
			rows := make([][]string, len(settings))
			for i, f := range settings {
				rows[i] = []string{f.Name, f.Value, f.Default, f.Source, f.About}
			}
			return s.printTable([]string{"name", "value", "default", "source", "about"}, rows)
		},
	}
}
