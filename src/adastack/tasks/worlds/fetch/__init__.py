"""FetchReach with a goal that is shown only for a moment."""
