import { connect } from 'node:net'
import type { HostileRequest } from './hostile-requests.ts'

const ANSWER_DEADLINE_MS = 10_000
/** Time for a stream to end by itself. A stream that has begun counts as an answer. */
const STREAM_MS = 500

/** Documented server errors (envd.md 6.4); a 500 must name the failure. */
const SERVER_FAILURES = new Set(['501', '504', '507'])

/**
 * Sends each request over its own connection, `concurrency` at a time, and returns the violations: no answer before the deadline, or an
 * undocumented server error. Only an incomplete request may end without an answer.
 */
export async function sendAll(url: string, requests: Iterable<HostileRequest>, concurrency: number): Promise<string[]> {
  const faults: string[] = []
  const { hostname, port } = new URL(url)
  const iterator = requests[Symbol.iterator]()
  async function work(): Promise<void> {
    for (let next = iterator.next(); next.done !== true; next = iterator.next()) {
      const fault = judge(await send(hostname, Number(port), next.value.bytes))
      if (fault !== undefined)
        faults.push(`${next.value.title}: ${fault}\n${JSON.stringify(next.value.bytes.toString('latin1').slice(0, 600))}`)
    }
  }
  await Promise.all(Array.from({ length: concurrency }, work))
  return faults
}

function judge(answer: string | undefined): string | undefined {
  if (answer === undefined) return 'no answer in time'
  const status = /^HTTP\/1\.1 (\d{3}) /.exec(answer)?.[1]
  if (status === undefined) return `no answer: ${JSON.stringify(answer.slice(0, 80))}`
  if (answer.includes('internal error')) return 'a failure that nobody expected'
  return status.startsWith('5') && status !== '500' && !SERVER_FAILURES.has(status) ? `status ${status}` : undefined
}

/** Resolves with the answer, or with undefined if there is none before the deadline. The client closes its side after the request. */
function send(host: string, port: number, bytes: Buffer): Promise<string | undefined> {
  return new Promise((resolve) => {
    const socket = connect(port, host)
    let answer = ''
    let streaming: NodeJS.Timeout | undefined
    const deadline = setTimeout(finish, ANSWER_DEADLINE_MS)
    function finish(): void {
      clearTimeout(deadline)
      clearTimeout(streaming)
      socket.destroy()
      resolve(answer === '' && !socket.readableEnded ? undefined : answer)
    }
    socket.on('data', (chunk: Buffer) => {
      answer += chunk.toString('latin1')
      streaming ??= setTimeout(finish, STREAM_MS)
    })
    socket.on('end', finish).on('error', finish)
    socket.end(bytes)
  })
}
