package desk

import "herald/db/model"

func (d *Desk) libraryRoutes() []route {
	return []route{
		{"GET /w/{slug}/media", model.MediaView, d.ofClient(model.MediaView, d.showLibrary)},
		{"GET /w/{slug}/media/standings", model.MediaView, d.showStandings},
		{"GET /w/{slug}/media/new", model.MediaWrite, d.showNewFiles},
		{"POST /w/{slug}/media/files", model.MediaWrite, d.createFiles},
		{"POST /w/{slug}/media/arrivals", model.MediaWrite, d.createArrivals},
		{"GET /w/{slug}/media/{media}", model.MediaView, d.showAsset},
		{"GET /w/{slug}/media/{media}/standing", model.MediaView, d.showAssetStanding},
		{"GET /w/{slug}/media/{media}/crop", model.MediaWrite, d.showCrop},
		{"POST /w/{slug}/media/{media}/crop", model.MediaWrite, d.createCrop},
		{"POST /w/{slug}/media/{media}/focus", model.MediaWrite, d.createFocus},
		{"POST /w/{slug}/media/{media}", model.MediaWrite, d.describeAsset},
		{"POST /w/{slug}/media/{media}/retries", model.MediaWrite, d.retryAsset},
		{"POST /w/{slug}/media/tags", model.MediaWrite, d.tagMedia},
		{"POST /w/{slug}/media/moves", model.MediaWrite, d.moveMedia},
		{"POST /w/{slug}/media/deletions", model.MediaWrite, d.deleteMedia},
		{"POST /w/{slug}/folders", model.MediaWrite, d.createFolder},
		{"POST /w/{slug}/folders/{folder}", model.MediaWrite, d.renameFolder},
		{"POST /w/{slug}/folders/{folder}/removal", model.MediaWrite, d.removeFolder},
	}
}
