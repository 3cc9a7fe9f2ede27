package indexes

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"
	"go.mongodb.org/mongo-driver/v2/mongo/options"

	"catalogue/internal/mongodb"
	"catalogue/internal/mongotest"
)

// expiring removes its rows after an hour.
var expiring = Index{Collection: "rows", Keys: bson.D{{Key: "at", Value: int32(1)}}, ExpireAfter: time.Hour, Reason: "rows live an hour"}

func compare(t testing.TB, db *mongo.Database, declared ...Index) Comparison {
	t.Helper()
	c, err := Compare(t.Context(), db, declared)
	require.NoError(t, err)
	require.Len(t, c.Declared, len(declared))
	return c
}

// standing is what a comparison finds of one declared index.
func standing(t testing.TB, db *mongo.Database, declared Index) Finding {
	t.Helper()
	f := compare(t, db, declared).Declared[0]
	require.Equal(t, declared, f.Index)
	return f
}

func buildAll(t testing.TB, db *mongo.Database, declared ...Index) []Outcome {
	t.Helper()
	outcomes, err := Build(t.Context(), db, declared, BuildOptions{})
	require.NoError(t, err)
	require.Len(t, outcomes, len(declared))
	return outcomes
}

// extras are the names of what nothing declares.
func extras(c Comparison) []string {
	out := []string{}
	for _, e := range c.Extra {
		out = append(out, e.Name)
	}
	return out
}

func TestAComparisonOfAnEmptyDatabase(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	c := compare(t, db, byName, unique)
	require.Equal(t, Finding{
		Index: byName, Collection: "rows", Key: "{name: 1, _id: 1}", Reason: byName.Reason, Status: Missing,
		Name: "name_1__id_1", DeclaredName: "name_1__id_1", Action: ActionBuild, Size: Size{Documents: new(int64), Bytes: new(int64)},
	}, c.Declared[0])
	require.Len(t, c.Pending(), 2)
	require.Empty(t, c.ForPerson())
	require.Empty(t, c.Extra)
	left, err := db.ListCollectionNames(t.Context(), bson.D{})
	require.NoError(t, err)
	require.Empty(t, left, "a comparison changes nothing")
}

func TestAComparisonTellsTheSizeOfEachCollection(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	_, err := db.Collection("rows").InsertMany(t.Context(), []any{bson.D{{Key: "name", Value: "a"}}, bson.D{{Key: "name", Value: "b"}}})
	require.NoError(t, err)
	create(t, db, bson.D{{Key: "x", Value: 1}}, options.Index())
	c := compare(t, db, byName)
	for _, size := range []Size{c.Declared[0].Size, c.Extra[0].Size} {
		require.EqualValues(t, 2, *size.Documents)
		require.Positive(t, *size.Bytes)
	}
}

func TestExtraIndexesAreToldApartByWhoBuiltThem(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	buildAll(t, db, byName, byScore)
	create(t, db, bson.D{{Key: "theirs", Value: 1}}, options.Index())
	_, err := db.Collection("another").Indexes().CreateOne(t.Context(), mongo.IndexModel{Keys: bson.D{{Key: "far", Value: -1}}})
	require.NoError(t, err)
	require.NoError(t, db.CreateView(t.Context(), "view", "rows", bson.A{}))

	c := compare(t, db, byScore)
	require.Equal(t, []string{"far_-1", byName.Name(), "theirs_1"}, extras(c), "_id_ is never extra")
	foreign, ours := c.Extra[0], c.Extra[1]
	require.Equal(t, "another", foreign.Collection)
	require.Equal(t, "{far: -1}", foreign.Key)
	require.False(t, foreign.Ours)
	require.Nil(t, foreign.BuiltAt)
	require.True(t, ours.Ours)
	require.NotNil(t, ours.BuiltAt)
	require.False(t, c.Extra[2].Ours)
	require.Empty(t, c.Pending())
}

func TestAComparisonOverlooksTheIndexesOfTheProbe(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	_, err := mongodb.Probe(t.Context(), db)
	require.NoError(t, err)
	have, err := listIndexes(t.Context(), db, mongodb.ProbeIndexes)
	require.NoError(t, err)
	require.Greater(t, len(have), 1)
	require.Empty(t, compare(t, db, byName).Extra)
}

// Each conflict of an index of the wanted key: what it is called, and who changes it.
func TestEachConflictIsNamed(t *testing.T) {
	t.Parallel()
	exists := bson.D{{Key: "name", Value: bson.D{{Key: "$exists", Value: true}}}}
	plainAt := expiring
	plainAt.ExpireAfter = 0
	for name, c := range map[string]struct {
		declared Index
		options  *options.IndexOptionsBuilder
		want     []Difference
		action   Action
		needs    []mongotest.Need
	}{
		"unique":                {byName, options.Index().SetUnique(true), []Difference{DifferentUnique}, "", nil},
		"sparse":                {byName, options.Index().SetSparse(true), []Difference{DifferentSparse}, "", nil},
		"partial":               {byName, options.Index().SetPartialFilterExpression(exists), []Difference{DifferentPartial}, "", nil},
		"collation":             {byName, options.Index().SetCollation(&options.Collation{Locale: "uk"}), []Difference{DifferentCollation}, "", []mongotest.Need{mongotest.Collation}},
		"not unique":            {unique, options.Index().SetPartialFilterExpression(unique.Partial), []Difference{DifferentUnique}, "", nil},
		"not partial":           {unique, options.Index().SetUnique(true), []Difference{DifferentPartial}, "", nil},
		"several":               {unique, options.Index().SetSparse(true), []Difference{DifferentUnique, DifferentSparse, DifferentPartial}, "", nil},
		"rows expire":           {plainAt, options.Index().SetExpireAfterSeconds(60), []Difference{DifferentExpireAfter}, "", nil},
		"rows do not expire":    {expiring, options.Index(), []Difference{DifferentExpireAfter}, ActionExpire, nil},
		"rows expire later":     {expiring, options.Index().SetExpireAfterSeconds(7200), []Difference{DifferentExpireAfter}, ActionExpire, nil},
		"the same":              {expiring, options.Index().SetExpireAfterSeconds(3600), nil, "", nil},
		"the same, spelled out": {byName, options.Index().SetUnique(false).SetSparse(false).SetCollation(&options.Collation{Locale: "simple"}), nil, "", []mongotest.Need{mongotest.Collation}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			mongotest.Needs(t, c.needs...)
			db := mongotest.Database(t)
			create(t, db, c.declared.Keys, c.options.SetName("theirs"))
			person := len(c.want) > 0 && c.action == ""

			f := standing(t, db, c.declared)
			require.Equal(t, "theirs", f.Name)
			require.True(t, f.OtherName())
			require.Equal(t, c.want, f.Differences)
			require.Equal(t, c.action, f.Action)
			require.Equal(t, person, f.ForPerson())
			require.Empty(t, compare(t, db, c.declared).Extra, "it stands where ours should")

			outcomes := buildAll(t, db, c.declared, byScore)
			require.NoError(t, Failures(outcomes))
			require.Equal(t, person, outcomes[0].After.ForPerson())
			require.Equal(t, []Action{ActionBuild}, outcomes[1].Done, "the rest is built")
			require.ElementsMatch(t, []string{"theirs", byScore.Name()}, names(t, db), "nothing is dropped")
			after := compare(t, db, c.declared, byScore)
			require.Empty(t, after.Pending())
			if person {
				require.Equal(t, Conflict, after.Declared[0].Status)
				require.Equal(t, after.Declared[:1], after.ForPerson())
				return
			}
			require.Equal(t, Ready, after.Declared[0].Status)
			require.Empty(t, after.Declared[0].Differences)
		})
	}
}

func TestATakenNameIsAConflictThatBuildSolves(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	create(t, db, bson.D{{Key: "other", Value: 1}}, options.Index().SetName(byName.Name()))
	f := standing(t, db, byName)
	require.Equal(t, []Difference{DifferentName}, f.Differences)
	require.Equal(t, byName.Name()+"_2", f.Name)
	require.False(t, f.ForPerson())

	require.Equal(t, []Action{ActionBuild}, buildAll(t, db, byName)[0].Done)
	c := compare(t, db, byName)
	require.Empty(t, c.Pending())
	require.True(t, c.Declared[0].Ours)
	require.True(t, c.Declared[0].OtherName())
	require.Equal(t, byName.Name()+"_2", c.Declared[0].Name)
	require.Equal(t, []string{byName.Name()}, extras(c), "the other one is nobody's")
	require.False(t, c.Extra[0].Ours)
}

func TestAnIndexUnderAnotherNameIsSatisfiedAndForeign(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	create(t, db, bson.D{{Key: "name", Value: 1.0}, {Key: "_id", Value: int64(1)}}, options.Index().SetName("by hand"))
	require.Empty(t, buildAll(t, db, byName)[0].Done)
	f := standing(t, db, byName)
	require.Equal(t, Ready, f.Status)
	require.Equal(t, "by hand", f.Name)
	require.True(t, f.OtherName())
	require.False(t, f.Ours)
	require.Equal(t, []string{"by hand"}, names(t, db))
}

func TestPartialFiltersAreComparedWithoutTheTypesOfNumbers(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	filter := func(n any) bson.D {
		return bson.D{{Key: "n", Value: bson.D{{Key: "$gt", Value: n}}}}
	}
	declared := byName
	declared.Partial = filter(1)
	create(t, db, byName.Keys, options.Index().SetPartialFilterExpression(filter(1.0)))
	require.Equal(t, Ready, standing(t, db, declared).Status)
	declared.Partial = filter(1.5)
	require.Equal(t, Conflict, standing(t, db, declared).Status)
	require.Equal(t, filterText(bson.D{{Key: "a", Value: bson.A{1.0, bson.D{{Key: "b", Value: 2.0}}}}}),
		filterText(bson.D{{Key: "a", Value: bson.A{int64(1), bson.M{"b": 2}}}}))
	require.Empty(t, filterText(bson.D{}))
}

func TestTheSimpleCollationIsNone(t *testing.T) {
	t.Parallel()
	for locale, collated := range map[string]bool{"simple": false, "uk": true} {
		f := found{Name: "x", Keys: byName.Keys, Collation: bson.D{{Key: "strength", Value: 3}, {Key: "locale", Value: locale}}}
		require.Equal(t, collated, f.collated(), locale)
	}
	require.False(t, found{}.collated())
}

func TestHiddenIndexesAreToldApartByWhoHidThem(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	buildAll(t, db, byName, byScore)
	hide(t, db, byName.Name(), true)
	_, err := Retire(t.Context(), db, []Index{byName}, RetireOptions{})
	require.NoError(t, err)

	c := compare(t, db, byName, byScore)
	require.Equal(t, HiddenByPerson, c.Declared[0].HiddenBy)
	require.True(t, c.Declared[0].ForPerson())
	require.Equal(t, HiddenByRetire, c.Declared[1].HiddenBy)
	require.Equal(t, ActionUnhide, c.Declared[1].Action)
	require.Empty(t, c.Extra)
	extra := compare(t, db).Extra
	require.Len(t, extra, 2)
	require.Equal(t, HiddenByRetire, extra[0].HiddenBy)
	require.NotNil(t, extra[0].HiddenAt)
	require.Equal(t, HiddenByPerson, extra[1].HiddenBy)
	require.Nil(t, extra[1].HiddenAt)
}

func TestABuildThatGoesOnIsWaitedForAndKnownByItsIntent(t *testing.T) {
	t.Parallel()
	building := found{Name: byName.Name(), Keys: byName.Keys, building: true}
	f := judge(byName, []found{building}, records{})
	require.Equal(t, ActionWait, f.Action)
	require.False(t, f.Ours, "somebody else's")

	db := mongotest.Database(t)
	require.NoError(t, ledger{db: db}.intend(t.Context(), byName, byName.Name()))
	recorded, err := ledger{db: db}.load(t.Context())
	require.NoError(t, err)
	f = judge(byName, []found{building}, recorded)
	require.Equal(t, ActionWait, f.Action)
	require.True(t, f.Ours)
}

func TestAComparisonAsJSON(t *testing.T) {
	t.Parallel()
	db := mongotest.Database(t)
	none, err := json.Marshal(compare(t, db))
	require.NoError(t, err)
	require.JSONEq(t, `{"declared":[],"extra":[]}`, string(none))

	create(t, db, byName.Keys, options.Index().SetUnique(true))
	create(t, db, bson.D{{Key: "x", Value: 1}}, options.Index())
	c := compare(t, db, byName)
	c.Declared[0].Size, c.Extra[0].Size = Size{}, Size{}
	text, err := json.Marshal(c)
	require.NoError(t, err)
	require.JSONEq(t, `{
		"declared": [{"collection":"rows","key":"{name: 1, _id: 1}","reason":"list rows by name","status":"conflict",
			"name":"name_1__id_1","declared_name":"name_1__id_1","differences":["unique"],"ours":false,
			"size":{"documents":null,"bytes":null}}],
		"extra": [{"collection":"rows","name":"x_1","key":"{x: 1}","building":false,"hidden":false,"ours":false,
			"size":{"documents":null,"bytes":null}}]}`, string(text))
}
