package race_test

import (
	"os"
	"testing"

	"github.com/gin-gonic/gin"

	"catalogue/internal/mongotest"
)

func TestMain(m *testing.M) {
	gin.SetMode(gin.TestMode)
	os.Exit(mongotest.Main(m))
}
