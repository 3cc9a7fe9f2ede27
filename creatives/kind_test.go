package creatives

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatFollowsFromOtherFieldsIsSettledBeforeACreation(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ given, want Creative }{
		"a rate of clicks": {
			Creative{Metrics: &Metrics{Clicks: new(int64(1)), Impressions: new(int64(4)), CTR: new(0.9)}},
			Creative{Metrics: &Metrics{Clicks: new(int64(1)), Impressions: new(int64(4)), CTR: new(0.25)}},
		},
		"no rate without impressions": {
			Creative{Metrics: &Metrics{Clicks: new(int64(1)), Impressions: new(int64(0)), CTR: new(0.9)}},
			Creative{Metrics: &Metrics{Clicks: new(int64(1)), Impressions: new(int64(0))}},
		},
		"a currency before its amount": {
			Creative{Metrics: &Metrics{Currency: new("EUR")}}, Creative{Metrics: &Metrics{Currency: new("EUR")}},
		},
		"nothing spent in a currency": {
			Creative{Metrics: &Metrics{Spend: new(0.0), Currency: new("EUR")}},
			Creative{Metrics: &Metrics{Spend: new(0.0), Currency: new("EUR")}},
		},
		"empty parents": {Creative{Metrics: &Metrics{}, Media: &Media{}}, Creative{}},
	} {
		effects, err := Kind().Settle(nil, &c.given, "ann")
		require.NoError(t, err, name)
		require.Empty(t, effects, name)
		require.Equal(t, c.want, c.given, name)
	}
}

func TestWhatFollowsFromAChange(t *testing.T) {
	t.Parallel()
	one, four := new(int64(1)), new(int64(4))
	for name, c := range map[string]struct{ old, next, want *Metrics }{
		"the currency goes with its amount": {
			&Metrics{Spend: new(1.0), Currency: new("EUR"), Clicks: one}, &Metrics{Currency: new("EUR"), Clicks: one},
			&Metrics{Clicks: one},
		},
		"nothing is left": {&Metrics{Spend: new(1.0), Currency: new("EUR")}, &Metrics{Currency: new("EUR")}, nil},
		// The amount is stored as a text, say: it is absent here, and has not gone.
		"the currency of an amount that does not fit stays": {
			&Metrics{Currency: new("USD"), Impressions: one}, &Metrics{Currency: new("USD"), Impressions: four},
			&Metrics{Currency: new("USD"), Impressions: four},
		},
		"the rate follows its parts": {
			&Metrics{Clicks: one, Impressions: one, CTR: new(1.0)}, &Metrics{Clicks: one, Impressions: four, CTR: new(1.0)},
			&Metrics{Clicks: one, Impressions: four, CTR: new(0.25)},
		},
		"the rate goes with a part of it": {
			&Metrics{Clicks: one, Impressions: four, CTR: new(0.25)}, &Metrics{Impressions: four, CTR: new(0.25)},
			&Metrics{Impressions: four},
		},
		"a rate whose parts do not change stays": {
			&Metrics{CTR: new(0.07), Impressions: one}, &Metrics{CTR: new(0.07), Impressions: one, Spend: new(2.0)},
			&Metrics{CTR: new(0.07), Impressions: one, Spend: new(2.0)},
		},
		"all goes": {&Metrics{Clicks: one}, nil, nil},
	} {
		old, next := Creative{Metrics: c.old}, Creative{Metrics: c.next}
		_, err := Kind().Settle(&old, &next, "ann")
		require.NoError(t, err, name)
		require.Equal(t, c.want, next.Metrics, name)
	}
}
