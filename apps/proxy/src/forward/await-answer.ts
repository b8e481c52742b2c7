import type { ClientRequest, IncomingMessage } from 'node:http'
import { ProxyError } from '../answers/proxy-error.ts'
import type { Exchange } from './find-exchange.ts'
import type { Upstreams } from './open-upstream.ts'

export interface AnswerListener {
  /** Receives the answer, once, when its head has arrived. */
  readonly answered: (answer: IncomingMessage) => void
  /** Receives the errors that prevent the completion of the request; also after the head, and possibly more than once. */
  readonly failed: (err: Error) => void
}

/**
 * Reports the answer to a request, or that there will be none. Node reports only some failures by 'error': a switch of protocols
 * without a listener only closes the request, and a request that ended before this call reports nothing.
 *
 * `101` without a protocol, which Node treats as an ordinary answer, is a failure: the client would read the following bytes as
 * another protocol.
 */
export function awaitAnswer(upstream: ClientRequest, { answered, failed }: AnswerListener): void {
  const closed = (): void => failed(new Error('the connection closed without an answer'))
  if (upstream.destroyed) return closed()
  upstream.once('error', failed)
  upstream.once('close', closed)
  upstream.once('response', (answer) => {
    upstream.off('close', closed)
    if (answer.statusCode === 101) failed(new Error('the answer switches to no protocol'))
    else answered(answer)
  })
}

/** The error for a client when a connected sandbox did not answer: the sandbox has ended, or its service failed. */
export async function explainSilence(
  { isCurrent }: Upstreams,
  { inbound, sandboxId, route }: Exchange,
  cause: unknown,
): Promise<ProxyError> {
  const isRunning = await isCurrent(route)
  return new ProxyError(isRunning ? { kind: 'no_answer', sandboxId, port: inbound.place.port } : { kind: 'not_found', sandboxId }, cause)
}
