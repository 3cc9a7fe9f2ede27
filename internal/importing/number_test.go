package importing

import (
	"math"
	"strconv"
	"testing"

	"github.com/stretchr/testify/require"

	"catalogue/internal/importing/cell"
)

var (
	plainFormat  = numberFormat{decimal: "."}
	germanFormat = numberFormat{decimal: ",", thousands: "."}
)

func textCell(s string) cell.Cell   { return cell.Cell{Kind: cell.Text, Text: s} }
func numberCell(s string) cell.Cell { return cell.Cell{Kind: cell.Number, Text: s} }

func TestNumbersArePlainDecimal(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{
		"0": 0, "-0": 0, "5": 5, "007": 7, "-1.50": -1.5, "3714.15": 3714.15, "0.1": 0.1,
	} {
		got, err := plainFormat.number(textCell(text))
		require.NoError(t, err, text)
		require.InDelta(t, want, got, 0, text)
		require.False(t, math.Signbit(got) && got == 0, text)
	}
	for _, text := range []string{
		"1_000", "0x1F", "Inf", "-Inf", "NaN", "1e3", "+5", " 5", "5 ", ".5", "5.", "-", "1.2.3", "1,5", "1,000", "٣", "",
	} {
		_, err := plainFormat.number(textCell(text))
		require.Error(t, err, text)
	}
}

func TestDecimalAndThousandsSigns(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]float64{
		"1.234,5": 1234.5, "-1.234.567,25": -1234567.25, "1234,5": 1234.5, "12": 12, "0,5": 0.5,
	} {
		got, err := germanFormat.number(textCell(text))
		require.NoError(t, err, text)
		require.InDelta(t, want, got, 0, text)
	}
	for _, text := range []string{"1.23,5", "1234.567,5", ".123", "1..234", "1,2,3", "1,234.5", "1.234,", "-.123"} {
		_, err := germanFormat.number(textCell(text))
		require.Error(t, err, text)
	}
	spaces := numberFormat{decimal: ",", thousands: "\u00A0"}
	got, err := spaces.number(textCell("12\u00A0345,6"))
	require.NoError(t, err)
	require.InDelta(t, 12345.6, got, 0)
}

// A point is no decimal sign where the file has another one, whatever parts its thousands.
func TestPointIsNoSignOfAFileWithCommas(t *testing.T) {
	t.Parallel()
	for _, thousands := range []string{"", " ", "'", "\u00A0"} {
		format := numberFormat{decimal: ",", thousands: thousands}
		for _, text := range []string{"1.234", "12.500", "1.234,5", "1.5", "-0.5", "1,2.3", "1.2,3", "1,-5"} {
			_, err := format.number(textCell(text))
			require.Error(t, err, "%q %q", thousands, text)
			_, err = format.integer(textCell(text))
			require.Error(t, err, "%q %q", thousands, text)
		}
		got, err := format.number(textCell("1234,5"))
		require.NoError(t, err)
		require.InDelta(t, 1234.5, got, 0)
	}
	for _, text := range []string{"1,5", "1,234", "1,234.5"} {
		_, err := numberFormat{decimal: ".", thousands: "'"}.number(textCell(text))
		require.Error(t, err, text)
	}
}

func TestIntegersAreExact(t *testing.T) {
	t.Parallel()
	for literal, want := range map[string]int64{
		"0": 0, "-0": 0, "1.0": 1, "1e3": 1000, "1E+3": 1000, "12.50e2": 1250, "1000e-3": 1, "0.000e-5": 0, "0e999999999": 0,
		"9223372036854775807": math.MaxInt64, "-9223372036854775808": math.MinInt64, "9007199254740993.0": 9007199254740993,
	} {
		got, err := plainFormat.integer(numberCell(literal))
		require.NoError(t, err, literal)
		require.Equal(t, want, got, literal)
	}
	for _, literal := range []string{"1.5", "9223372036854775808", "1e400", "1e999999999999", "1e-1", "1e-400", "15e-1"} {
		_, err := plainFormat.integer(numberCell(literal))
		require.Error(t, err, literal)
	}
	for text, want := range map[string]int64{"5": 5, "007": 7, "-3": -3} {
		got, err := plainFormat.integer(textCell(text))
		require.NoError(t, err, text)
		require.InDelta(t, want, got, 0, text)
	}
	for _, text := range []string{"1.0", "1e3", "9223372036854775808", "x", "1_0"} {
		_, err := plainFormat.integer(textCell(text))
		require.Error(t, err, text)
	}
	got, err := germanFormat.integer(textCell("1.234.567"))
	require.NoError(t, err)
	require.Equal(t, int64(1234567), got)
}

func TestNumberOfJSON(t *testing.T) {
	t.Parallel()
	got, err := plainFormat.number(numberCell("1.5e3"))
	require.NoError(t, err)
	require.InDelta(t, 1500.0, got, 0)
	_, err = plainFormat.number(numberCell("1e400"))
	require.ErrorContains(t, err, "too large")
	_, err = plainFormat.number(cell.Cell{Kind: cell.Bool, Text: "true"})
	require.Error(t, err)
	_, err = plainFormat.integer(cell.Cell{Kind: cell.Nested})
	require.Error(t, err)
}

// An integer that is taken is the number that big arithmetic would give; a number written plainly is read back.
func FuzzNumbers(f *testing.F) {
	for _, seed := range []string{"0", "-1.5", "1e3", "12.500e2", "9223372036854775807", "1.234,5", "1_0", "NaN", "0x1p4"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, text string) {
		for _, format := range []numberFormat{plainFormat, germanFormat} {
			if v, err := format.number(textCell(text)); err == nil {
				again, err := plainFormat.number(textCell(canonical(v)))
				require.NoError(t, err)
				require.InDelta(t, v, again, 0)
			}
			if v, err := format.integer(textCell(text)); err == nil {
				again, err := plainFormat.integer(textCell(strconv.FormatInt(v, 10)))
				require.NoError(t, err)
				require.InDelta(t, v, again, 0)
			}
		}
	})
}
