import { connect } from 'node:net'
import type { HostileRequest } from './hostile-requests.ts'

const ANSWER_DEADLINE_MS = 10_000
/** A stream that has begun is an answer; it is given this long to end by itself. */
const STREAM_MS = 500

/** Failures that are documented as such (envd.md 6.4); a 500 has to say what failed. */
const SERVER_FAILURES = new Set(['501', '504', '507'])

/**
 * Sends them over a connection each, `concurrency` at a time, and tells what was wrong with the answers: none in time, or one that blames the
 * server. A connection that is closed without an answer is only right after a request that never was one.
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

/** Resolves with what was answered until the end, undefined where that is nothing in time. The client sends no more after the request. */
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
