package jsonnumber_test

import (
	"math/big"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"catalogue/internal/jsonnumber"
)

func TestWhole(t *testing.T) {
	t.Parallel()
	for literal, want := range map[string]string{
		"0": "0", "-0": "0", "0.0": "0", "0e5": "0", "5": "5", "5.0": "5", "5e0": "5", "-12.50e1": "-125", "1E3": "1000",
		"120e-1": "12", "9007199254740993.0": "9007199254740993", "9223372036854775808": "9223372036854775808",
	} {
		got, ok := jsonnumber.Whole(literal)
		require.True(t, ok, literal)
		require.Equal(t, want, got, literal)
	}
	for _, literal := range []string{"1.5", "1e-1", "12e-2", "1e401", "1e-401", "1e99999999999999999999"} {
		_, ok := jsonnumber.Whole(literal)
		require.False(t, ok, literal)
	}
}

func TestWholeIsTheNumberProperty(t *testing.T) {
	t.Parallel()
	rapid.Check(t, func(t *rapid.T) {
		literal := strconv.FormatInt(rapid.Int64().Draw(t, "mantissa"), 10)
		if rapid.Bool().Draw(t, "fraction") {
			literal += "." + rapid.StringMatching(`[0-9]{1,5}`).Draw(t, "digits")
		}
		literal += "e" + strconv.Itoa(rapid.IntRange(-30, 30).Draw(t, "exponent"))
		exact, ok := new(big.Rat).SetString(literal)
		require.True(t, ok)
		got, whole := jsonnumber.Whole(literal)
		require.Equal(t, exact.IsInt(), whole, literal)
		if whole {
			require.Equal(t, exact.Num().String(), got, literal)
		}
	})
}
