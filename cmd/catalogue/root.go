package main

import (
	"errors"
	"fmt"

	"github.com/spf13/cobra"
)

// newRootCommand lists every command. Each stands in a file of its own.
func newRootCommand(a *app) *cobra.Command {
	root := &cobra.Command{
		Use:           appName,
		Short:         "Creatives and tasks over MongoDB: lists, writes and a feed",
		Long:          "Creatives and tasks over MongoDB: lists, writes and a feed.\n\nThe configuration comes from the environment: see README.md.",
		Version:       buildVersion(),
		SilenceErrors: true, // report prints them
		SilenceUsage:  true,
	}
	root.AddCommand(
		newServeCommand(a),
		newImportCommand(a),
		newSeedCommand(a),
		newMigrateCommand(a),
		newFeedCommand(a),
		newHealthCommand(a),
		newVersionCommand(a),
	)
	asGroup(root)
	a.markStarted(root)
	return root
}

// asGroup makes a command that only has commands below it say so where none or an unknown one is named.
func asGroup(command *cobra.Command) {
	command.Args = func(_ *cobra.Command, args []string) error {
		if len(args) == 0 {
			return errors.New("a command is missing")
		}
		return fmt.Errorf("unknown command %q", args[0])
	}
	command.RunE = func(*cobra.Command, []string) error { return nil } // without it cobra looks at no arguments
}
