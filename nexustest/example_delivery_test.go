package nexustest_test

import (
	"context"
	"fmt"

	"github.com/nexuspg/nexus/nexustest"
)

// A handler's function is called without a database.
func ExampleDelivery() {
	err := remind(context.Background(), nil, nexustest.Delivery(SignedUp, Signup{Email: ""}))
	fmt.Println(err)
	// Output: reject: no address
}
