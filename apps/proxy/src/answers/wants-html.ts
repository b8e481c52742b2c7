import type { IncomingHttpHeaders } from 'node:http'

const BROWSER = /mozilla|chrome|safari|firefox|edge|opera|msie/i
const SCRIPTED_MODES: ReadonlySet<string> = new Set(['cors', 'no-cors', 'same-origin', 'websocket'])

/** Whether an error is shown to a person: a browser that navigates, not a script in it (control-plane.md 19.3). */
export function wantsHtml(headers: IncomingHttpHeaders): boolean {
  if (!BROWSER.test(headers['user-agent'] ?? '')) return false
  const accept = (headers.accept ?? '').toLowerCase()
  if (accept.includes('application/json') && !accept.includes('text/html')) return false
  const mode = headers['sec-fetch-mode']?.toLowerCase()
  if (mode === 'navigate') return true
  return !(mode !== undefined && SCRIPTED_MODES.has(mode)) && headers['x-requested-with'] === undefined
}
