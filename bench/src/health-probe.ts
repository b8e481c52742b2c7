import { Agent, get } from 'node:http'
import { parentPort, workerData } from 'node:worker_threads'

/** Between two calls, so that the probe is no load itself. */
const PAUSE_MS = 5

const agent = new Agent({ keepAlive: true, maxSockets: 1 })
let running = new AbortController()
let slowest = 0
let asking = Promise.resolve()

/** `start` measures until `stop`, which is answered with the slowest call, the one in flight included. */
parentPort?.on('message', (command: 'start' | 'stop') => {
  if (command === 'start') {
    running = new AbortController()
    slowest = 0
    asking = askAgain(running.signal)
    answer(0)
    return
  }
  running.abort()
  void asking.then(() => answer(slowest))
})
answer(0)

async function askAgain(signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    const start = performance.now()
    await ask(String(workerData))
    slowest = Math.max(slowest, performance.now() - start)
    await new Promise((resolve) => setTimeout(resolve, PAUSE_MS))
  }
}

function ask(url: string): Promise<void> {
  return new Promise((resolve, reject) => {
    get(url, { agent }, (response) => response.resume().once('end', resolve).once('error', reject)).once('error', reject)
  })
}

function answer(value: number): void {
  parentPort?.postMessage(value)
}
