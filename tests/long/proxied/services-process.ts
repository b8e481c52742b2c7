import { fork } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import { startEventServices, type EventServices } from './event-services.ts'

/** The event services in a process of their own, so that they and the clients do not share a heap and descriptors. */
export async function startServicesProcess(hosts: readonly string[]): Promise<EventServices> {
  const child = fork(fileURLToPath(import.meta.url), hosts)
  const exited = once(child, 'exit')
  const [port] = (await Promise.race([once(child, 'message'), exited.then(() => Promise.reject(new Error('the services ended')))])) as [
    number,
  ]
  return {
    port,
    async [Symbol.asyncDispose]() {
      child.kill('SIGKILL')
      await exited
    },
  }
}

if (process.argv[1] === fileURLToPath(import.meta.url)) {
  const { port } = await startEventServices(process.argv.slice(2))
  process.send?.(port)
  process.once('disconnect', () => process.exit())
}
