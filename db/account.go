package db

import (
	"fmt"

	"herald/db/model"
)

// TokenAAD binds a sealed token to its row, so that a value copied to another
// account or workspace does not open. Which is token or refresh.
func TokenAAD(tenant model.TenantID, account model.AccountID, which string) string {
	return fmt.Sprintf("accounts/%d/%d/%s", tenant, account, which)
}
