package testenv

import (
	"os"
	"testing"
)

// samplesVariable names the folder of the sample files, which are not part of this project.
const samplesVariable = "CATALOGUE_SHARED_DATA"

// Samples is the folder of the sample files. Where the environment does not name it the test is skipped, and says so.
func Samples(t testing.TB) string {
	t.Helper()
	folder := os.Getenv(samplesVariable)
	if folder == "" {
		t.Skipf("not run: %s does not name the folder of the sample files", samplesVariable)
	}
	return folder
}
