package desk

import "herald/db/model"

func (d *Desk) composerRoutes() []route {
	return []route{
		{"GET /w/{slug}/posts/new", model.PostsWrite, d.showNewPost},
		{"GET /w/{slug}/posts/{id}", model.PostsView, d.showPost},
		{"GET /w/{slug}/posts/{id}/versions", model.PostsView, d.chooseVersions},
		{"GET /w/{slug}/posts/{id}/versions/{number}", model.PostsView, d.showVersion},
		{"POST /w/{slug}/posts", model.PostsWrite, d.createPost},
		{"POST /w/{slug}/posts/{id}", model.PostsWrite, d.savePost},
		{"GET /w/{slug}/media/picker", model.MediaView, d.showPicker},
		{"GET /w/{slug}/media/attachments", model.MediaView, d.showAttachments},
		{"POST /w/{slug}/posts/form", model.PostsWrite, d.changeForm},
		{"POST /w/{slug}/posts/check", model.PostsWrite, d.checkForm},
		{"POST /w/{slug}/cards", model.PostsWrite, d.readLinkCard},
		{"GET /w/{slug}/cards/{hash}", model.PostsView, d.showLinkCardPicture},
		{"POST /w/{slug}/posts/{id}/retries", model.PostsSchedule, d.retryFailures},
		{"POST /w/{slug}/posts/{id}/archive", model.PostsWrite, d.archivePost},
	}
}
