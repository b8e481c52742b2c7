import { me } from '../session/session.ts'

export interface WireRequest {
  readonly method: string
  readonly path: string
  readonly body?: unknown
  /** The credential, as a variable of the shell. Default: that of the team. */
  readonly by?: 'team' | 'admin'
}

/** The request as a curl command, whose credential is a variable. */
export function curlOf({ method, path, body, by = 'team' }: WireRequest): string {
  const credential = by === 'team' ? 'X-API-Key: $E2B_API_KEY' : 'X-Admin-Token: $SANDYARD_ADMIN_TOKEN'
  const url = `${me.value?.server.apiUrl ?? 'http://127.0.0.1:3000'}${path}`
  const parts = ['curl', ...(method === 'GET' ? [] : ['-X', method]), shellWord(url), '-H', `"${credential}"`]
  if (body !== undefined) parts.push('-H', "'Content-Type: application/json'", '-d', shellWord(JSON.stringify(body)))
  return parts.join(' ')
}

/** A word of a command line for sh. */
export function shellWord(text: string): string {
  return /^[\w@%+=:,./-]+$/.test(text) ? text : `'${text.replaceAll("'", `'\\''`)}'`
}
