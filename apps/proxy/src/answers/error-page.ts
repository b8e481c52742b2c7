import type { IncomingHttpHeaders } from 'node:http'
import { TRAFFIC_TOKEN } from '../message/token-headers.ts'
import { html, layOut, type Html } from './html.ts'
import { LIMIT_TEXTS } from './limit-texts.ts'
import type { Problem } from './proxy-error.ts'

const BROWSER = /mozilla|chrome|safari|firefox|edge|opera|msie/i
const SCRIPTED_MODES: ReadonlySet<string> = new Set(['cors', 'no-cors', 'same-origin', 'websocket'])

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
 * The page for a person in a browser, or undefined where only JSON or text is defined. It contains the fragments of control-plane.md
 * 19.3 and the id of the sandbox.
 *
 * @param status shown on the page
 */
export function renderErrorPage(problem: Problem, status: number): string | undefined {
  const content = pageContent(problem)
  if (content === undefined) return undefined
  const sandboxId = 'sandboxId' in problem ? problem.sandboxId : undefined
  return layOut({ status, sandboxId, title: content[0], text: content[1] })
}

function pageContent(problem: Problem): [title: string, text: Html] | undefined {
  switch (problem.kind) {
    case 'not_found':
      return ['Sandbox Not Found', html`This sandbox does not run. It may have been killed, paused, or have reached the end of its time.`]
    case 'port_closed':
      return [
        'Closed Port',
        html`The sandbox runs, but there is no service running on port <code>${problem.port}</code>. Start a server on this port and reload.`,
      ]
    case 'no_answer':
      return ['No Answer', html`The service on port <code>${problem.port}</code> of the sandbox closed the connection without an answer.`]
    case 'traffic_token':
      return problem.fault === 'missing'
        ? [
            'Missing Traffic Access Token',
            html`The ports of this sandbox are not public. Send its token in the header <code>${TRAFFIC_TOKEN}</code>.`,
          ]
        : ['Invalid Traffic Access Token', html`The token in the header <code>${TRAFFIC_TOKEN}</code> is not the token of this sandbox.`]
    case 'resume_refused':
      return [
        'Sandbox Not Resumed',
        html`This sandbox is paused and can't be resumed with the credentials provided. Check your access token and try again.`,
      ]
    case 'resume_limit':
      return ['Sandbox Not Resumed', html`This sandbox is paused and cannot be resumed now: ${problem.message}`]
    case 'transitioning':
      return ['Sandbox Is Transitioning', html`This sandbox is being paused, resumed or saved. Try again in a moment.`]
    case 'unavailable':
      return ['Temporarily Unavailable', html`The sandbox cannot be reached right now. Try again in a moment.`]
    case 'reserved_route':
      return [
        'Reserved Endpoint',
        html`The path <code>${problem.path}</code> is reserved for the control plane and cannot be reached through the address of the
          sandbox.`,
      ]
    case 'limit': {
      const { title, message, setting } = LIMIT_TEXTS[problem.cap]
      const text = message(problem.limit).replace(/\.$/, '')
      return [title, setting === undefined ? html`${text}.` : html`${text}. Setting: <code>${setting}</code>.`]
    }
    case 'bad_request':
    case 'invalid_signature':
    case 'internal':
      return undefined
  }
}
