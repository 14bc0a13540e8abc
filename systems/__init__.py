"""What the bench, the proof and the campaign run: servers, Penstock's job, and its peers."""
