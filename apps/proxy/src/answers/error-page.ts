import type { IncomingHttpHeaders } from 'node:http'
import { LIMIT_TEXTS } from './limit-texts.ts'
import type { Problem } from './proxy-error.ts'

const BROWSER = /mozilla|chrome|safari|firefox|edge|opera|msie/i
const SCRIPTED_MODES: ReadonlySet<string> = new Set(['cors', 'no-cors', 'same-origin', 'websocket'])
const STYLE =
  'body{font:16px/1.5 system-ui,sans-serif;max-width:40rem;margin:15vh auto;padding:0 1rem;color:#222}code{background:#eee;padding:0 .3em}'

/** Whether a person reads the error: a browser that navigates, not a script in it (control-plane.md 19.3). */
export function wantsHtml(headers: IncomingHttpHeaders): boolean {
  if (!BROWSER.test(headers['user-agent'] ?? '')) return false
  const accept = (headers.accept ?? '').toLowerCase()
  if (accept.includes('application/json') && !accept.includes('text/html')) return false
  const mode = headers['sec-fetch-mode']?.toLowerCase()
  if (mode === 'navigate') return true
  return !(mode !== undefined && SCRIPTED_MODES.has(mode)) && headers['x-requested-with'] === undefined
}

/**
 * The page for a person in a browser, or undefined where only JSON is defined. It starts with `<html` and ends with
 * `</html>`, and contains the fragments of control-plane.md 19.3. Ids and ports are validated before, so nothing needs escaping.
 */
export function renderErrorPage(problem: Problem): string | undefined {
  switch (problem.kind) {
    case 'not_found':
      return page('Sandbox Not Found', `The sandbox <code>${problem.sandboxId}</code> does not run. It may have been killed or timed out.`)
    case 'port_closed':
      return page(
        'Closed Port',
        `The sandbox <code>${problem.sandboxId}</code> runs, but there is no service running on port <code>${problem.port}</code>.`,
      )
    case 'no_answer':
      return page(
        'No Answer',
        `In the sandbox <code>${problem.sandboxId}</code>, the service on port <code>${problem.port}</code> closed the connection without an answer.`,
      )
    case 'unavailable':
      return page(
        'Temporarily Unavailable',
        `The sandbox${problem.sandboxId === undefined ? '' : ` <code>${problem.sandboxId}</code>`} cannot be reached right now. Try again in a moment.`,
      )
    case 'limit': {
      const { title, message } = LIMIT_TEXTS[problem.cap]
      const where = problem.sandboxId === undefined ? '' : ` Sandbox: <code>${problem.sandboxId}</code>.`
      return page(title, `${message(problem.limit)}.${where}`)
    }
    case 'bad_request':
    case 'invalid_signature':
    case 'reserved_route':
    case 'internal':
      return undefined
  }
}

function page(title: string, text: string): string {
  return [
    '<html lang="en">',
    `<head><meta charset="utf-8"><meta name="viewport" content="width=device-width"><title>${title}</title><style>${STYLE}</style></head>`,
    `<body><h1>${title}</h1><p>${text}</p></body>`,
    '</html>',
  ].join('\n')
}
