/** The row of `server_setting` with the id of the engine that runs the sandboxes of this installation. */
export const ENGINE_SETTING = 'engine_id'

/** Its value while a restore is not complete: no engine has this id, so no server starts. */
export const UNFINISHED_RESTORE = 'unfinished-restore'
