package groups

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"time"

	"go.mongodb.org/mongo-driver/v2/bson"

	"catalogue/bench/measure"
	"catalogue/bench/peers"
	"catalogue/bench/peers/mixmax"
	"catalogue/bench/report"
	"catalogue/creatives"
	"catalogue/pagination"
)

const (
	peerRows  = 100_000 // at which the promise is made
	peerLimit = 10      // times the pages a second of each peer
	// peerWindow is the share of a list that pages are drawn from around a depth. It spans many ties and their ends: a few
	// neighbouring pages could all lie within one.
	peerWindow = 0.02
	// trialDropTimeout bounds the dropping of the small lists' database.
	trialDropTimeout = 30 * time.Second
)

// rivals says how pages are timed beside those of other ways to page.
type rivals struct {
	sort   string // with a value in most rows, ties among them, and rows without one at its end
	depths []float64
	limit  int
	// rounds are taken at the depth of the promise; at the others fewer do, for the chart.
	warmup, rounds, fewer int
}

// Peers times the catalogue's pages beside those of what users would pick instead, and counts what each loses.
func Peers(ctx context.Context, e *Env) (report.Section, error) {
	return rivals{
		sort: "-created_at", depths: []float64{0, 0.5, deep}, limit: pageLimit,
		warmup: 5, rounds: 60, fewer: 20,
	}.run(ctx, e)
}

// way is a peer that is timed.
type way struct {
	peer   peers.Peer
	name   string // of the way, whether hinted or not
	http   bool   // over HTTP, or else by the driver in this process
	ours   bool
	hinted bool   // with the index named where it would not do so of itself
	exact  bool   // its pages at a place are those of the list; without a tie-break they need not be
	why    string // it need not be slower, for the reason of a promise that is not met
	// timed are the samples by depth.
	timed map[float64]measure.Samples
}

// rivalry is everything that was found out.
type rivalry struct {
	rows    int
	ways    []way
	cases   []peers.Case
	results [][]peers.Result // of each case, in the order of the peers
	// nodeMissing says why mongo-cursor-pagination was left out, and mixedMissing whether the case of mixed nulls was.
	nodeMissing  string
	mixedMissing bool
}

func (r rivals) run(ctx context.Context, e *Env) (_ report.Section, err error) {
	found := rivalry{rows: peerSize(e.Rows), cases: peers.Cases()}
	node, reason, err := startNode(ctx, e.URI)
	if err != nil {
		return report.Section{}, err
	}
	if node != nil {
		defer func() { err = errors.Join(err, node.Stop()) }()
	}
	found.nodeMissing = reason
	keys, err := pagination.NewKeyring(CursorKey)
	if err != nil {
		return report.Section{}, err
	}
	steps := len(found.cases)
	for _, depth := range r.depths {
		steps += r.warmup + r.roundsAt(depth)
	}
	step := e.counter(steps)
	if err := r.time(ctx, e, &found, node, keys, step); err != nil {
		return report.Section{}, err
	}
	if err := tryCases(ctx, e, &found, node, keys, step); err != nil {
		return report.Section{}, err
	}
	return r.section(found)
}

func (r rivals) roundsAt(depth float64) int {
	if depth == deep {
		return r.rounds
	}
	return r.fewer
}

// peerSize is the largest size up to that of the promise, or the smallest of all.
func peerSize(sizes []int) int {
	size := sizes[0]
	for _, rows := range sizes {
		if rows <= peerRows {
			size = max(size, rows)
		}
	}
	return size
}

// startNode starts the server of mongo-cursor-pagination. Where that cannot be had, the reason comes back.
func startNode(ctx context.Context, uri string) (_ *mixmax.Server, reason string, _ error) {
	cache, err := mixmax.Cache()
	if err != nil {
		return nil, "", err
	}
	folder, err := mixmax.Install(ctx, cache)
	if err == nil {
		var server *mixmax.Server
		if server, err = mixmax.Start(ctx, folder, uri); err == nil {
			return server, "", nil
		}
	}
	if ctx.Err() != nil {
		return nil, "", err
	}
	return nil, err.Error(), nil
}

// time times every way at every depth.
func (r rivals) time(
	ctx context.Context, e *Env, found *rivalry, node *mixmax.Server, keys pagination.Keyring, step func(),
) error {
	data, server, err := e.served(ctx, found.rows)
	if err != nil {
		return err
	}
	declared := creatives.List()
	order, ok := declared.Sorts.Parse(r.sort)
	if !ok {
		return fmt.Errorf("%s has no sort %q", declared.Path, r.sort)
	}
	query := declared.Query(bson.NilObjectID, order, pagination.Start[bson.RawValue](), r.limit)
	list := peers.List{
		Collection: data.Creatives(), Order: order, Projection: query.Projection, Index: declared.Index(order.Sort).Name(),
	}
	found.ways = []way{
		{peer: peers.Keyset(list, keys), ours: true, exact: true},
		{peer: peers.Skip(list, false), name: "skip/limit", exact: true},
		{peer: peers.Skip(list, true), name: "skip/limit", exact: true, hinted: true},
		{peer: peers.Or(list, false), name: "one `$or` predicate", exact: true},
		{peer: peers.Or(list, true), name: "one `$or` predicate", exact: true, hinted: true},
		{peer: peers.Offset(list, false), name: "the `offset` list of openprocurement.api", why: "it is the range read that a keyset page is, too, without the tie-break"},
		{peer: peers.Offset(list, true), name: "the `offset` list of openprocurement.api", hinted: true},
		{peer: peers.Service(list, server, keys, declared.Path, declared.Name), http: true, ours: true, exact: true},
	}
	if node != nil {
		found.ways = append(found.ways,
			way{peer: peers.Mixmax(list, node, false), name: mixmaxName, http: true, exact: true},
			way{peer: peers.Mixmax(list, node, true), name: mixmaxName, http: true, exact: true, hinted: true})
	}
	for _, depth := range r.depths {
		if err := r.timeAt(ctx, list, found, depth, step); err != nil {
			return fmt.Errorf("at a depth of %.0f %%: %w", 100*depth, err)
		}
	}
	return nil
}

// timeAt times every way at one depth, interleaved. In each round all ways read the same page.
func (r rivals) timeAt(ctx context.Context, list peers.List, found *rivalry, depth float64, step func()) error {
	places := int(math.Ceil(peerWindow * float64(found.rows)))
	middle := int(depth * float64(found.rows))
	before := max(0, min(middle-places/2, found.rows-places-r.limit))
	window, err := peers.ReadWindow(ctx, list, before, places, r.limit)
	if err != nil {
		return err
	}
	subjects := make([]measure.Subject, len(found.ways))
	for i, w := range found.ways {
		if subjects[i], err = r.subject(w, window); err != nil {
			return err
		}
		subjects[i].Labels = map[string]string{
			"rows": strconv.Itoa(found.rows), "sort": r.sort, "depth": fmt.Sprintf("%.0f %%", 100*depth),
		}
	}
	samples, err := measure.Interleave(ctx, r.warmup, r.roundsAt(depth), step, subjects...)
	if err != nil {
		return err
	}
	for i := range found.ways {
		if found.ways[i].timed == nil {
			found.ways[i].timed = map[float64]measure.Samples{}
		}
		found.ways[i].timed[depth] = samples[i]
	}
	return nil
}

// subject reads the pages of a window in an order that is the same for every way. Each answer is looked into before the
// next is timed: a wrong page may be a quick one.
func (r rivals) subject(w way, window peers.Window) (measure.Subject, error) {
	dice := rand.New(rand.NewPCG(shuffles, shuffles)) //nolint:gosec // the order of measurements is no secret
	order := dice.Perm(len(window.Places))
	positions := make([]peers.Position, len(window.Places))
	for i, place := range window.Places {
		at, err := w.peer.Position(place)
		if err != nil {
			return measure.Subject{}, fmt.Errorf("%s: %w", w.peer.Name(), err)
		}
		positions[i] = at
	}
	turn := 0
	var answer peers.Answer
	return measure.Subject{
		Name: w.peer.Name(),
		Prepare: func(context.Context) error {
			if answer == nil {
				return nil
			}
			wanted := window.Page(order[turn%len(order)], r.limit)
			turn++
			return checkPage(answer, wanted, w.exact)
		},
		Run: func(ctx context.Context) (err error) {
			ctx, cancel := context.WithTimeout(ctx, readTimeout)
			defer cancel()
			answer, err = w.peer.Fetch(ctx, positions[order[turn%len(order)]], r.limit)
			return err
		},
	}, nil
}

// checkPage compares an answer with the page that it has to be. Where it need not be exact, it must be as long.
func checkPage(answer peers.Answer, wanted []bson.ObjectID, exact bool) error {
	page, err := answer()
	if err != nil {
		return err
	}
	if len(page.IDs) != len(wanted) || exact && !slices.Equal(page.IDs, wanted) {
		return fmt.Errorf("the page of %d rows is not the %d rows of the list at its place", len(page.IDs), len(wanted))
	}
	return nil
}

// tryCases has every peer walk the small lists, in a database that is gone afterwards.
func tryCases(
	ctx context.Context, e *Env, found *rivalry, node *mixmax.Server, keys pagination.Keyring, step func(),
) (err error) {
	db := e.Client.Database("bench_peers_" + bson.NewObjectID().Hex())
	defer func() {
		ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), trialDropTimeout)
		defer cancel()
		err = errors.Join(err, db.Drop(ctx))
	}()
	mixed, err := peers.NullsAsMissing(ctx, db)
	if err != nil {
		return err
	}
	if !mixed {
		found.mixedMissing = true
		found.cases = slices.DeleteFunc(found.cases, func(c peers.Case) bool { return c.Mixed })
	}
	trial := peers.NewTrial(db, func(l peers.List) []peers.Peer {
		all := []peers.Peer{peers.Keyset(l, keys), peers.Skip(l, false), peers.Or(l, false), peers.Offset(l, false)}
		if node != nil {
			all = append(all, peers.Mixmax(l, node, false))
		}
		return all
	})
	for i, c := range found.cases {
		results, err := trial.Walk(ctx, i, c)
		if err != nil {
			return err
		}
		found.results = append(found.results, results)
		step()
	}
	return nil
}
