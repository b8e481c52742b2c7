import type { ClientRequest, IncomingMessage } from 'node:http'

export interface AnswerListener {
  /** Gets the answer, once, when its head is there. */
  readonly answered: (answer: IncomingMessage) => void
  /** Gets what keeps the request from being completed; also after the head, and possibly more than once. */
  readonly failed: (err: Error) => void
}

/**
 * Tells of the answer to a request, or that none will come. Node reports only some ends by 'error': a switch of protocols that
 * nobody listens for just closes the request, and one that ended before this call reports nothing any more.
 *
 * `101` without a protocol, which Node takes for an ordinary answer, is a failure: it would make the client take what follows for
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
