package creatives

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestWhatFollowsFromOtherFieldsIsSettledBeforeAWrite(t *testing.T) {
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
		"no currency without an amount": {Creative{Metrics: &Metrics{Currency: new("EUR")}}, Creative{}},
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
