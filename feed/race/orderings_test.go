package race_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/gin-gonic/gin"
	"github.com/stretchr/testify/require"
	"go.mongodb.org/mongo-driver/v2/bson"
	"go.mongodb.org/mongo-driver/v2/mongo"

	"catalogue/creatives"
	"catalogue/feed"
	"catalogue/feed/race"
	"catalogue/indexes"
	"catalogue/internal/changes"
	"catalogue/internal/mongotest"
	"catalogue/internal/strictbson"
)

// raceOn runs a plan on a fresh database, through the real feed, under one ordering.
func raceOn(t *testing.T, plan race.Plan, ordering string) (race.Outcome, race.Result) {
	t.Helper()
	db := mongotest.Database(t)
	require.NoError(t, indexes.Apply(t.Context(), db, feed.Indexes(creatives.Collection), func(indexes.Standing) {}))
	clock := feed.DatabaseClock(db)
	handler := serve(db, feed.None{})
	if ordering == watermark {
		handler = serve(db, feed.NewWatermark(clock, plan.Delay))
	}
	writer := race.NewCreativeWriter(changes.NewWriter(db, creatives.Kind(), bson.NewObjectID))
	all, err := race.Run(t.Context(), plan, writer, race.Clock(clock),
		race.Ordering{Name: ordering, Lossless: ordering == watermark, Handler: handler})
	require.NoError(t, err)
	return all.Outcomes[0], all
}

const (
	none      = "none"
	watermark = "watermark"
)

func serve(db *mongo.Database, ordering feed.Ordering) http.Handler {
	engine := gin.New()
	hint := feed.Index(creatives.Collection).Name()
	store := feed.NewStore(db.Collection(creatives.Collection), func() string { return hint }, nil)
	feed.Register(engine, feed.Services{Ordering: ordering},
		feed.Resource[creatives.Creative]{
			Path: "creatives", Collection: creatives.Collection, Decoder: strictbson.New[creatives.Creative](),
		}, store)
	return engine
}

// Without an ordering, a transaction that is held open is overtaken by the others, and its row is lost.
func TestNoOrderingLosesWhatIsOvertaken(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.Transactions)
	out, all := raceOn(t, race.Plan{
		Duration: 3 * time.Second, Writers: 8, SlowShare: 0.05, SlowTime: 300 * ms, Delay: time.Second,
	}, none)
	require.NotEmpty(t, out.Lost)
	require.NoError(t, all.Broken(), "it promises nothing")
}

// The watermark holds over many writes, a few of which are held open for a good part of the delay.
func TestTheWatermarkLosesNothingWithinItsDelay(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.Transactions)
	out, all := raceOn(t, race.Plan{
		Duration: 5 * time.Minute, Writes: 20_000, Writers: 8, SlowShare: 0.001, SlowTime: time.Second, Delay: 3 * time.Second,
	}, watermark)
	require.Len(t, all.Writes, 20_000)
	require.Zero(t, out.Within, "%v", out.Lost)
	t.Logf("%.0f writes a second, %d slower than the delay were lost; visible after %s (p50), %s (p99)",
		all.Rate(), out.Slower(), out.VisibleP50, out.VisibleP99)
}

// The watermark is no more than a delay: a transaction that is slower is lost under it, too.
func TestTheWatermarkLosesWhatIsSlowerThanItsDelay(t *testing.T) {
	t.Parallel()
	mongotest.Needs(t, mongotest.Transactions)
	out, all := raceOn(t, race.Plan{
		Duration: 4 * time.Second, Writers: 8, SlowShare: 0.05, SlowTime: 900 * ms, Delay: 300 * ms,
	}, watermark)
	require.Positive(t, out.Slower())
	require.Zero(t, out.Within, "%v", out.Lost)
	require.NoError(t, all.Broken(), "it promises nothing about them")
	for _, w := range out.Lost {
		require.Greater(t, w.Late, 290*ms)
	}
}
