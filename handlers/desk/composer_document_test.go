package desk_test

import (
	"fmt"
	"strings"
	"testing"

	"herald/db/model"
	"herald/db/network"
)

// menu is a PDF of two empty pages.
const menu = "%PDF-1.4\n1 0 obj\n<< /Type /Catalog /Pages 2 0 R >>\nendobj\n2 0 obj\n<< /Type /Pages /Count 2 /Kids [3 0 R 4 0 R] >>\nendobj\n" +
	"3 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 400] >>\nendobj\n4 0 obj\n<< /Type /Page /Parent 2 0 R /MediaBox [0 0 300 400] >>\nendobj\n" +
	"xref\n0 5\n0000000000 65535 f \n0000000009 00000 n \n0000000058 00000 n \n0000000121 00000 n \n0000000192 00000 n \n" +
	"trailer\n<< /Size 5 /Root 1 0 R >>\nstartxref\n263\n%%EOF\n"

// A document goes where the catalogue takes one, by its title, and is shown by its
// first page to whoever writes, reads and approves the post.
func TestADocumentIsForNetworksThatTakeOne(t *testing.T) {
	t.Parallel()
	s := newStudio(t)
	linkedin := s.agency.Account(t, s.client, network.LinkedIn)
	form := s.fresh(t)
	form["account"] = []string{fmt.Sprint(int64(s.account)), fmt.Sprint(int64(linkedin))}
	page := s.upload(t, form, file{"menu.pdf", []byte(menu)}).want(t, 200, "2 pages, PDF")
	form = page.form(t)
	form.Set("do", "refresh")
	s.post(t, s.owner, "/w/north/posts/form", form).want(t, 200, "Mastodon takes no documents", "LinkedIn needs", "Title of the document")

	form["account"] = []string{fmt.Sprint(int64(linkedin))}
	form.Set(fmt.Sprintf("option.%d.document_title", linkedin), "What we bake")
	checked := s.post(t, s.owner, "/w/north/posts/form", form).want(t, 200, "What we bake", "2 pages")
	if !strings.Contains(checked.body, `class="look-place"`) || !strings.Contains(checked.body, `class="look-title">What we bake`) {
		t.Error("it is not shown as LinkedIn does")
	}
	if strings.Contains(checked.body, "LinkedIn needs") || strings.Contains(checked.body, "No alt text") {
		t.Errorf("it still asks for something")
	}
	form = checked.form(t)
	id, _ := s.saved(t, s.send(t, form, "save"))
	reader := s.signIn(t, s.agency.Member(t, model.Viewer, map[model.ClientID][]model.Permission{s.client: model.Viewer.Grants()}))
	read := s.get(t, reader, fmt.Sprintf("/w/north/posts/%d", id)).want(t, 200, "What we bake", "2 pages")
	if got := fmt.Sprint(s.shownFiles(t, read)); got != "[png 480x640]" && got != "[jpeg 480x640]" {
		t.Errorf("it shows %s, want the first page", got)
	}
	s.get(t, s.owner, "/w/north/media?kind=document").want(t, 200, "menu.pdf")
	if a := s.get(t, s.owner, "/w/north/media?kind=image"); strings.Contains(a.body, "menu.pdf") {
		t.Error("it is among the pictures")
	}
}
