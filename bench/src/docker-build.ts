import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'

const run = promisify(execFile)

/** `docker build` of the same commands with the classic builder, which makes one layer for each as we do. Returns the image's id. */
export async function dockerBuild(image: string, commands: readonly string[]): Promise<string> {
  const child = spawn('docker', ['build', '--quiet', '-'], {
    env: { ...process.env, DOCKER_BUILDKIT: '0' },
    stdio: ['pipe', 'pipe', 'pipe'],
  })
  child.stdin.end([`FROM ${image}`, ...commands.map((command) => `RUN ${command}`), ''].join('\n'))
  const [id, errors, [status]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'exit')])
  if (status !== 0) throw new Error(`docker build failed: ${errors}`)
  return id.trim()
}

/** Removes an image with the layers that nothing else needs. An absent image is success. */
export async function removeImage(id: string): Promise<void> {
  await run('docker', ['rmi', '--force', id]).catch(() => undefined)
}
