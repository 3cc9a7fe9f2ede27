package main

import "github.com/spf13/cobra"

func newFeedCommand(a *app) *cobra.Command {
	feed := &cobra.Command{Use: "feed", Short: "Work with the synchronisation feed"}
	asGroup(feed)
	feed.AddCommand(newFeedSyncCommand(a), newFeedRaceCommand(a))
	return feed
}
