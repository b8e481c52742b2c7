import { setTimeout as delay } from 'node:timers/promises'
import { cpuMsOf } from '../../bench/src/container-cpu.ts'
import { findSandboxContainer } from '../../bench/src/engine.ts'
import { pollUntil } from '../../packages/kit/src/async/poll-until.ts'
import { startTestServer } from '../../tools/gate/test-server.ts'
import type { Target } from './attacks/attack.ts'
import { daemonHeaders, runInSandbox } from './attacks/daemon-call.ts'
import { call, callApi, fieldsOf } from './attacks/http-call.ts'

const MAX_COUNT = 10_000
const STEP_MS = 60_000
const STILL_MS = 3000
const LIFETIME_SECONDS = 3600
/** Writes its process id and its number; a reader sees a whole line or none. */
const COUNTER = "sh -c 'i=0; while :; do i=$((i+1)); echo $$ $i > /tmp/count; sleep 0.01; done'"

interface Count {
  readonly process: string
  readonly value: number
}

/**
 * Pauses a sandbox and connects to it again while a process in it counts: `npm run long:pause-count [-- count]`, default 200, on a server of
 * its own. Exits with 1 if the process starts anew, goes back or stands still after a connect, or if the paused sandbox uses CPU time.
 */
async function main(count: number): Promise<void> {
  await using running = await startTestServer()
  const { E2B_API_URL: apiUrl = '', E2B_SANDBOX_URL: proxyUrl = '', E2B_API_KEY: apiKey = '' } = running.environment
  const target = await createSandbox({ apiUrl, proxyUrl, apiKey, sandboxId: '', token: '', port: 0 })
  const started = await runInSandbox(target, `nohup ${COUNTER} >/dev/null 2>&1 &`, AbortSignal.timeout(STEP_MS))
  if (started !== 'exit status 0') throw new Error(`starting the counter ended with ${started}`)
  let last = await countAfter(target, { process: '', value: 0 })
  const first = last
  for (let round = 1; round <= count; round += 1) {
    await change(target, `POST /sandboxes/${target.sandboxId}/pause`, {}, '204')
    if (round === 1) await checkStill(target)
    await change(target, `POST /v2/sandboxes/${target.sandboxId}/connect`, { timeout: LIFETIME_SECONDS }, '201')
    const next = await countAfter(target, last)
    if (next.process !== first.process) throw new Error(`after ${round} pauses the counter is another process`)
    last = next
    if (round % 20 === 0) console.log(`${round} pauses: the counter is at ${last.value}`)
  }
  console.log(`one process counted from ${first.value} to ${last.value} through ${count} pauses`)
}

async function createSandbox(empty: Target): Promise<Target> {
  const created = await callApi(
    empty,
    'POST /v2/sandboxes',
    { templateID: 'base', timeout: LIFETIME_SECONDS, secure: true },
    AbortSignal.timeout(STEP_MS),
  )
  if (created.status !== '201') throw new Error(`creating a sandbox answered ${created.status}: ${created.text}`)
  const { sandboxID, envdAccessToken } = fieldsOf(created)
  return { ...empty, sandboxId: String(sandboxID), token: String(envdAccessToken) }
}

async function change(target: Target, operation: string, body: object, status: string): Promise<void> {
  const answer = await callApi(target, operation, body, AbortSignal.timeout(STEP_MS))
  if (answer.status !== status) throw new Error(`${operation} answered ${answer.status}: ${answer.text}`)
}

/** Waits until the counter is above `before`. @throws when it has gone back */
async function countAfter(target: Target, before: Count): Promise<Count> {
  return await pollUntil({ what: 'the counter', timeoutMs: STEP_MS, everyMs: 10 }, async () => {
    const url = `${target.proxyUrl}/files?username=user&path=/tmp/count`
    const { status, text } = await call(url, { headers: daemonHeaders(target) }, AbortSignal.timeout(STEP_MS))
    const [, process = '', number = ''] = status === '200' ? (/^(\d+) (\d+)\n$/.exec(text) ?? []) : []
    if (process === '') return undefined
    const value = Number(number)
    if (value < before.value) throw new Error(`the counter went back from ${before.value} to ${value}`)
    return value > before.value ? { process, value } : undefined
  })
}

async function checkStill({ sandboxId }: Target): Promise<void> {
  const { Pid } = (await findSandboxContainer(sandboxId)).State
  const before = await cpuMsOf(Pid)
  await delay(STILL_MS)
  const used = (await cpuMsOf(Pid)) - before
  if (used > 0) throw new Error(`the paused sandbox used ${used} ms of CPU time in ${STILL_MS / 1000} s`)
  console.log(`paused: no CPU time in ${STILL_MS / 1000} s`)
}

await main(Math.min(Number(process.argv[2] ?? 200), MAX_COUNT))
