package main

import (
	"bytes"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"catalogue/indexes"
	"catalogue/internal/mongotest"
)

// buildVersionWith builds the indexes of a version that declares some others, too.
func (d deployment) buildVersionWith(t testing.TB, more ...indexes.Index) {
	t.Helper()
	outcomes, err := indexes.Build(t.Context(), d.db, append(declaredIndexes(), more...), indexes.BuildOptions{})
	require.NoError(t, err)
	require.NoError(t, indexes.Failures(outcomes))
}

// names are those of the indexes of tasks.
func (d deployment) names(t testing.TB) []string {
	t.Helper()
	specs, err := d.db.Collection("tasks").Indexes().ListSpecifications(t.Context())
	require.NoError(t, err)
	out := make([]string, len(specs))
	for i, s := range specs {
		out[i] = s.Name
	}
	return out
}

// prunes runs migrate prune with a person at a terminal who answers.
func (d deployment) prunes(t testing.TB, answer string) outcome {
	t.Helper()
	var stdout, stderr bytes.Buffer
	a := &app{
		stdin: strings.NewReader(answer), stdout: &stdout, stderr: &stderr, interactive: true, environ: d.environ,
		now: time.Now, lease: time.Minute,
	}
	return outcome{a.execute(t.Context(), []string{"migrate", "prune", "--older-than", "0s"}), stdout.String(), stderr.String()}
}

func TestMigrateRetireUnhideAndPrune(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.HiddenIndexes, mongotest.SchemaTitles)
	d := newDeployment(t)
	old := indexes.ForSort("tasks", nil, "estimate", "a sort that is gone")
	d.buildVersionWith(t, old)
	d.create(t, "tasks", bson.D{{Key: "theirs", Value: 1}}, options.Index())
	d.up(t)
	require.Regexp(t, `(?m)^tasks {estimate: 1, _id: 1} +extra +nothing +0 documents, 0 B +up once built estimate_1__id_1, and nothing declares it`,
		d.migrate(t.Context(), "plan").stdout)

	hidden := d.migrate(t.Context(), "retire")
	require.Equal(t, exitOK, hidden.code, hidden.stderr)
	require.Regexp(t, `(?m)^hiding +tasks estimate_1__id_1 {estimate: 1, _id: 1}, used 0 times since \S+ \S+Z on `, hidden.stdout)
	require.Contains(t, hidden.stdout, "foreign   tasks theirs_1 {theirs: 1}, which migrate up did not build")
	require.Contains(t, hidden.stdout, "1 index is hidden now.")
	require.Regexp(t, `(?m)^tasks {estimate: 1, _id: 1} +extra, hidden +nothing +0 documents, 0 B +retire hid estimate_1__id_1 at `,
		d.migrate(t.Context(), "plan").stdout)
	require.Contains(t, d.migrate(t.Context(), "retire").stdout, "hidden    tasks estimate_1__id_1 {estimate: 1, _id: 1} since ")

	back := d.migrate(t.Context(), "unhide", "estimate_1__id_1")
	require.Equal(t, exitOK, back.code, back.stderr)
	require.Equal(t, exitFailure, d.migrate(t.Context(), "unhide", "estimate_1__id_1").code, "it is not hidden any more")
	d.migrate(t.Context(), "retire")

	young := d.migrate(t.Context(), "prune", "--yes")
	require.Equal(t, outcome{exitOK, "No index has been hidden by migrate retire for 168h0m0s: nothing was done.\n", ""}, young)
	unasked := d.migrate(t.Context(), "prune", "--older-than", "0s")
	require.Equal(t, exitUsage, unasked.code)
	require.Contains(t, unasked.stderr, "say --yes")
	for _, answer := range []string{"n\n", "\n", "", "yesterday\n"} {
		no := d.prunes(t, answer)
		require.Equal(t, exitFailure, no.code)
		require.Contains(t, no.stderr, "Drop 1 index? [y/N] catalogue: nothing was done\n")
	}
	require.Contains(t, d.names(t), "estimate_1__id_1")
	yes := d.prunes(t, "Y\n")
	require.Equal(t, exitOK, yes.code, yes.stderr)
	require.Contains(t, yes.stdout, "dropped   tasks estimate_1__id_1 {estimate: 1, _id: 1}\n")
	require.NotContains(t, d.names(t), "estimate_1__id_1")
	require.Contains(t, d.names(t), "theirs_1")
	d.requireDeclared(t)

	nothing := d.migrate(t.Context(), "retire")
	require.Contains(t, nothing.stdout, "Every index that migrate up built is declared: nothing was done.\n")
}
