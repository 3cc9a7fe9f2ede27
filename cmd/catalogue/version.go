package main

import (
	"cmp"
	"fmt"
	"runtime/debug"

	"github.com/spf13/cobra"
)

// version is set by the linker, which can set nothing else: -ldflags "-X main.version=v1.2.3".
var version string

func newVersionCommand(a *app) *cobra.Command {
	return &cobra.Command{
		Use:   "version",
		Short: "Print the version",
		Args:  cobra.NoArgs,
		RunE: func(*cobra.Command, []string) error {
			_, err := fmt.Fprintf(a.stdout, "%s version %s\n", appName, buildVersion())
			return err
		},
	}
}

// buildVersion is the linker's version or the module's, with the commit and the toolchain where they are known.
func buildVersion() string {
	shown := version
	info, ok := debug.ReadBuildInfo()
	if !ok {
		return cmp.Or(shown, "unknown")
	}
	shown = cmp.Or(shown, info.Main.Version, "unknown")
	for _, setting := range info.Settings {
		switch {
		case setting.Key == "vcs.revision":
			shown += ", commit " + setting.Value
		case setting.Key == "vcs.modified" && setting.Value == "true":
			shown += " with changes"
		}
	}
	return shown + ", " + info.GoVersion
}
