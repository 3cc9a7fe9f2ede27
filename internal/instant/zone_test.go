package instant

import (
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

func TestParseZoneReadsNamesOfTheZoneDatabase(t *testing.T) {
	t.Parallel()
	summer := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	for name, offset := range map[string]string{
		"UTC":                            "+00:00",
		"Europe/Kyiv":                    "+03:00",
		"Europe/Kiev":                    "+03:00",
		"America/New_York":               "-04:00",
		"America/Argentina/Buenos_Aires": "-03:00",
		"America/North_Dakota/New_Salem": "-05:00",
		"Asia/Kathmandu":                 "+05:45",
		"Pacific/Kiritimati":             "+14:00",
		"US/Pacific":                     "-07:00",
		"Etc/UTC":                        "+00:00",
		"Etc/GMT":                        "+00:00",
		"Etc/GMT+5":                      "-05:00",
		"Etc/GMT-14":                     "+14:00",
		"Japan":                          "+09:00",
		"GB-Eire":                        "+01:00",
		"Zulu":                           "+00:00",
		"Antarctica/DumontDUrville":      "+10:00",
		"America/Port-au-Prince":         "-04:00",
	} {
		zone, err := ParseZone(name)
		require.NoError(t, err, name)
		require.Equal(t, name, zone.String())
		require.Equal(t, offset, summer.In(zone).Format("-07:00"), name)
	}
}

func TestParseZoneKnowsWhenClocksChange(t *testing.T) {
	t.Parallel()
	zone, err := ParseZone("Europe/Kyiv")
	require.NoError(t, err)
	for moment, clock := range map[string]string{
		"2026-03-29T00:59:59Z": "02:59:59 EET",
		"2026-03-29T01:00:00Z": "04:00:00 EEST",
		"2026-10-25T00:59:59Z": "03:59:59 EEST",
		"2026-10-25T01:00:00Z": "03:00:00 EET",
	} {
		require.Equal(t, clock, MustParse(moment).Time().In(zone).Format("15:04:05 MST"), moment)
	}
}

func TestParseZoneReadsFixedOffsets(t *testing.T) {
	t.Parallel()
	for name, seconds := range map[string]int{
		"+00:00": 0, "-00:00": 0, "+02:00": 7200, "-02:30": -9000, "+05:45": 20700, "+18:00": 64800, "-18:00": -64800,
	} {
		zone, err := ParseZone(name)
		require.NoError(t, err, name)
		_, got := time.Unix(0, 0).In(zone).Zone()
		require.Equal(t, seconds, got, name)
		require.Equal(t, name, zone.String())
	}
}

func TestParseZoneRefusesWhatMeansAnotherZoneElsewhere(t *testing.T) {
	t.Parallel()
	for _, name := range []string{
		"", " ", "Local", "local", "localtime", "Factory", "Etc/Unknown",
		// abbreviations, those that the database has as names among them
		"EST", "CET", "EET", "MET", "WET", "MST", "HST", "EST5EDT", "PST8PDT", "PST", "CEST", "IST", "GMT", "GMT0", "GMT+0",
		"GMT-0", "UCT", "PRC", "ROC", "ROK", "GB", "NZ", "NZ-CHAT", "W-SU", "Z",
		// names are taken as they are written in the database, on any file system
		"europe/kyiv", "Europe/kyiv", "EUROPE/KYIV", "utc", "Utc", "japan", "Europe/Kyiv ", " Europe/Kyiv", "Europe/Kyiv\n",
		"Europe/Kyiv\x00", "Europe\\Kyiv", "Europe/Kyiv/", "Europe//Kyiv", "/Europe/Kyiv", "./Europe/Kyiv", "Europe",
		"Europe/", "Europe/Nowhere", "Europe/../Europe/Kyiv", "../x", "../zoneinfo/Europe/Kyiv", "../../../../etc/passwd",
		"/etc/localtime", "/usr/share/zoneinfo/Europe/Kyiv", "C:\\x", "posix/Europe/Kyiv", "right/Europe/Kyiv", "posixrules",
		"tzdata.zi", "zone.tab", "zone1970.tab", "Europe/Ky\u0131v", "Europe/Kyiv\xff",
		// offsets
		"+18:01", "-18:01", "+24:00", "+99:99", "+01:60", "+2:00", "+02", "+0200", "02:00", "+02:00:00", "UTC+2", "GMT+2",
		"\u221202:00", "+02:00 ", "+٠٢:٠٠", "+-2:00",
		strings.Repeat("Europe/", 100_000) + "Kyiv",
	} {
		zone, err := ParseZone(name)
		require.Error(t, err, "%.50q", name)
		require.Less(t, len(err.Error()), 500, "%.50q", name)
		require.Nil(t, zone, "%.50q", name)
	}
}

// The tests of this package run again in processes with other settings of the machine.
func TestTheMachinesZoneSettingsChangeNothing(t *testing.T) {
	t.Parallel()
	if os.Getenv("INSTANT_TEST_AGAIN") != "" {
		t.Skip("this is the other process")
	}
	program, err := os.Executable()
	require.NoError(t, err)
	for _, settings := range [][]string{
		{"TZ=America/New_York"},
		{"TZ=Australia/Lord_Howe"},
		{"TZ="},
		{"TZ=nonsense"},
	} {
		again := exec.CommandContext(t.Context(), program, "-test.run", "^Test(Parse|Instant)", "-test.v")
		again.Env = append(os.Environ(), append(settings, "INSTANT_TEST_AGAIN=1")...)
		out, err := again.CombinedOutput()
		require.NoError(t, err, "%s: %s", settings, out)
		require.Contains(t, string(out), "--- PASS: TestParseZoneKnowsWhenClocksChange", "%s", settings)
	}
}

func FuzzParseZone(f *testing.F) {
	for _, seed := range []string{"", "UTC", "Local", "EST", "Europe/Kyiv", "europe/kyiv", "../x", "+02:00", "+18:01", "a\x00b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		zone, err := ParseZone(name)
		if err != nil {
			require.Nil(t, zone)
			return
		}
		require.Equal(t, name, zone.String())
	})
}
