import { once } from 'node:events'
import { STATUS_CODES, type IncomingMessage, type ServerResponse } from 'node:http'
import { recordDecision } from '../connections/record-decision.ts'
import type { EgressContext } from '../context.ts'
import { DialError, type DialFailure } from '../dial/dial-error.ts'
import type { WebConnection } from './web-connection.ts'

/** What a program in a sandbox reads when a server that it may reach was not reached. No details: they would show the network of the host. */
const TEXTS: Partial<Record<DialFailure, string>> = {
  bad_certificate: 'The certificate of the server is not valid for its name.',
  missing_secret: 'A value that a network rule needs is missing.',
  too_many_values: 'Requests with long values of network rules are under way: try again.',
  unresolved: 'The name of the server has no address.',
  unreachable: 'The server was not reached.',
}

interface Failed {
  readonly req: IncomingMessage
  readonly res: ServerResponse
  readonly err: unknown
  readonly name: string | undefined
}

/** Answers a request whose server failed with a 502; closes the connection without an answer when the policy or its proxy stands behind it. */
export async function answerFailure(ctx: EgressContext, web: WebConnection, { req, res, err, name }: Failed): Promise<void> {
  const failure = err instanceof DialError ? err.failure : undefined
  if (failure !== undefined) recordDecision(ctx, web, { verdict: 'deny', rule: failure, name })
  const text = failure === undefined ? 'The server ended the connection.' : TEXTS[failure]
  if (text === undefined) {
    req.socket.destroy()
    return
  }
  const closed = once(res, 'close').catch(() => undefined)
  const body = `${text}\n`
  // Node keeps the length and the reason of a head that it has refused to write.
  const headers = { 'Content-Type': 'text/plain; charset=utf-8', 'Content-Length': Buffer.byteLength(body), Connection: 'close' }
  res.writeHead(502, STATUS_CODES[502], headers).end(body)
  await closed
}
