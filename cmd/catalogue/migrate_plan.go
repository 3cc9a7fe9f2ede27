package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"text/tabwriter"

	"github.com/spf13/cobra"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/indexes"
	"catalogue/migrations"
)

func newMigratePlanCommand(a *app) *cobra.Command {
	var format string
	command := &cobra.Command{
		Use:   "plan",
		Short: "Show what migrate up would do, and why",
		Long: `Show what migrate up would do and why, and what it would leave alone. Nothing is changed.

The exit code is 2 where migrate up would do something (as it is for wrong usage, which says so), 0 where it would not,
4 where it would not but something is left for a person, and 1 where the plan cannot be made.`,
		Args: cobra.NoArgs,
		RunE: func(c *cobra.Command, _ []string) error {
			if format != formatTable && format != formatJSON {
				return &exitError{code: exitUsage, err: fmt.Errorf("format must be %s or %s", formatTable, formatJSON)}
			}
			return a.migrating(c.Context(), func(ctx context.Context, db *mongo.Database) error {
				return a.migratePlan(ctx, db, format)
			})
		},
	}
	command.Flags().StringVar(&format, "format", formatTable, "`form` of the plan: table or json")
	return command
}

func (a *app) migratePlan(ctx context.Context, db *mongo.Database, format string) error {
	runner, err := newRunner(db)
	if err != nil {
		return err
	}
	plan, err := makePlan(ctx, db, runner)
	changed, broken := errors.AsType[*migrations.ChangedError](err)
	if err != nil && !broken {
		return err
	}
	if format == formatJSON {
		err = plan.writeJSON(a.stdout)
	} else {
		err = plan.writeTable(a.stdout)
	}
	switch {
	case err != nil:
		return err
	case broken:
		return changed
	case plan.Pending:
		return &exitError{code: exitPending}
	case len(plan.Indexes.ForPerson()) > 0:
		return &exitError{code: exitForPerson}
	default:
		return nil
	}
}

// migratePlan is what the database has beside what is declared.
type migratePlan struct {
	Pending    bool               `json:"pending"` // up would do something
	Indexes    indexes.Comparison `json:"indexes"`
	Migrations []plannedMigration `json:"migrations"` // that up would run, or that have changed
}

// plannedMigration is a data migration that is not applied as it is declared.
type plannedMigration struct {
	Number  int              `json:"number"`
	Name    string           `json:"name"`
	State   migrations.State `json:"state"`
	Changes *int64           `json:"changes,omitempty"` // where they were counted

	label string
}

func plannedOf(s migrations.Standing) plannedMigration {
	return plannedMigration{Number: s.Number, Name: s.Name, State: s.State, label: s.String()}
}

// makePlan fails with a ChangedError where applied data migrations have changed; the plan is whole all the same.
func makePlan(ctx context.Context, db *mongo.Database, runner *migrations.Runner) (migratePlan, error) {
	compared, err := indexes.Compare(ctx, db, indexesByCollection())
	if err != nil {
		return migratePlan{}, err
	}
	plan := migratePlan{Indexes: compared, Migrations: []plannedMigration{}}
	open, err := runner.Plan(ctx)
	plan.Pending = len(compared.Pending())+len(open) > 0
	if changed, ok := errors.AsType[*migrations.ChangedError](err); ok {
		open = changed.Migrations
	}
	for _, s := range open {
		plan.Migrations = append(plan.Migrations, plannedOf(s))
	}
	return plan, err
}

// dryRun shows the plan with the counts of the data migrations.
func (a *app) dryRun(ctx context.Context, db *mongo.Database, runner *migrations.Runner) error {
	plan, err := makePlan(ctx, db, runner)
	if err != nil {
		return err
	}
	forecast, err := runner.DryRun(ctx)
	if err != nil {
		return err
	}
	plan.Migrations = []plannedMigration{}
	for _, f := range forecast {
		m := plannedOf(f.Standing)
		m.Changes = &f.Changes
		plan.Migrations = append(plan.Migrations, m)
	}
	return plan.writeTable(a.stdout)
}

func (p migratePlan) writeJSON(out io.Writer) error {
	encoder := json.NewEncoder(out)
	encoder.SetIndent("", "  ")
	return encoder.Encode(p)
}

// writeTable shows what is not simply as declared.
func (p migratePlan) writeTable(out io.Writer) error {
	var text strings.Builder
	rows := p.indexRows()
	if len(rows) > 0 {
		if err := table(&text, "INDEX\tSTATE\tUP WOULD\tCOLLECTION HAS\tWHY", rows); err != nil {
			return err
		}
		text.WriteString("\n")
	}
	if rows = p.migrationRows(); len(rows) > 0 {
		if err := table(&text, "DATA MIGRATION\tSTATE\tUP WOULD MAKE", rows); err != nil {
			return err
		}
		text.WriteString("\n")
	}
	text.WriteString(p.summary() + "\n")
	_, err := io.WriteString(out, text.String())
	return err
}

func (p migratePlan) summary() string {
	pending, person := len(p.Indexes.Pending()), len(p.Indexes.ForPerson())
	out := fmt.Sprintf("%d of %s ready. ", len(p.Indexes.Declared)-pending-person,
		counted(len(p.Indexes.Declared), "declared index is", "declared indexes are"))
	if p.Pending {
		out += fmt.Sprintf("catalogue migrate up would act on %s and run %s.", counted(pending, "index", "indexes"),
			counted(len(p.Migrations), "data migration", "data migrations"))
	} else {
		out += "catalogue migrate up would do nothing."
	}
	if person > 0 {
		out += fmt.Sprintf(" %s left for a person.", counted(person, "index is", "indexes are"))
	}
	return out
}

func (p migratePlan) indexRows() []string {
	var rows []string
	for _, f := range p.Indexes.Declared {
		if f.Action == "" && !f.ForPerson() && !f.OtherName() {
			continue // nothing is to be said of it
		}
		does := string(f.Action)
		if does == "" {
			does = "nothing"
		}
		rows = append(rows, cells(f.Index.String(), string(f.Status), does, size(f.Size), why(f)))
	}
	for _, e := range p.Indexes.Extra {
		state := "extra"
		if e.Hidden {
			state = "extra, hidden"
		}
		rows = append(rows, cells(e.Collection+" "+e.Key, state, "nothing", size(e.Size), whyExtra(e)))
	}
	return rows
}

func (p migratePlan) migrationRows() []string {
	rows := make([]string, 0, len(p.Migrations))
	for _, m := range p.Migrations {
		changes := "not counted: see migrate up --dry-run"
		if m.Changes != nil {
			changes = changesText(*m.Changes)
		}
		rows = append(rows, cells(m.label, string(m.State), changes))
	}
	return rows
}

// why says why a declared index is in the plan.
func why(f indexes.Finding) string {
	switch {
	case f.ForPerson():
		return advice(f)
	case f.Action == indexes.ActionUnhide:
		return "retire hid it, and it is declared again: " + f.Reason
	case f.Action == indexes.ActionExpire:
		return "rows expire at another time than declared"
	case f.Action == indexes.ActionWait:
		return "its build goes on: " + f.Reason
	case f.Status == indexes.Missing && f.Name != f.DeclaredName:
		return fmt.Sprintf("%s; another index is called %s, so it gets the name %s", f.Reason, f.DeclaredName, f.Name)
	case f.OtherName():
		return fmt.Sprintf("it is there as %s, which is as good", f.Name)
	default:
		return f.Reason
	}
}

// advice says what a person has to do about an index.
func advice(f indexes.Finding) string {
	if f.Status == indexes.Hidden {
		return fmt.Sprintf("a person hid %s: catalogue migrate unhide %s --collection %s brings it back",
			f.Name, f.Name, f.Collection)
	}
	differences := make([]string, len(f.Differences))
	for i, d := range f.Differences {
		differences[i] = string(d)
	}
	return fmt.Sprintf("%s has its key, but differs in %s: look at it, drop it by hand if nobody needs it, and run up again",
		f.Name, strings.Join(differences, ", "))
}

func whyExtra(e indexes.Extra) string {
	switch {
	case e.Building:
		return e.Name + " is being built, and nothing declares it"
	case e.HiddenBy == indexes.HiddenByRetire:
		return fmt.Sprintf("retire hid %s at %s: migrate prune drops it one day", e.Name, moment(*e.HiddenAt))
	case e.Ours:
		return fmt.Sprintf("up once built %s, and nothing declares it any more: migrate retire hides it", e.Name)
	default:
		return e.Name + " is not of up's making, and stays"
	}
}

func cells(texts ...string) string { return strings.Join(texts, "\t") }

// table writes rows whose cells are separated by tabs.
func table(out io.Writer, head string, rows []string) error {
	w := tabwriter.NewWriter(out, 0, 0, 2, ' ', 0)
	for _, row := range append([]string{head}, rows...) {
		_, _ = fmt.Fprintln(w, row) // what fails, Flush tells
	}
	return w.Flush()
}

// size writes how large a collection is.
func size(s indexes.Size) string {
	if s.Documents == nil {
		return "unknown"
	}
	out := counted(int(*s.Documents), "document", "documents")
	if s.Bytes != nil {
		out += ", " + bytesText(*s.Bytes)
	}
	return out
}

// bytesText writes a number of bytes with the largest unit that leaves a whole number before the point.
func bytesText(n int64) string {
	value := float64(n)
	for _, unit := range []string{"B", "kB", "MB", "GB"} {
		if value < 1000 {
			return strings.TrimSuffix(fmt.Sprintf("%.1f", value), ".0") + " " + unit
		}
		value /= 1000
	}
	return fmt.Sprintf("%.1f TB", value)
}
