import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type Docker from 'dockerode'
import { followAnswer } from '../../src/engine/follow-answer.ts'
import { debianProgram } from './debian-program.ts'

/** The accounts of the registry, and the bcrypt hash of each password. */
export const ACCOUNTS = {
  docker: { username: 'alice', password: 'correct horse', hash: '$2b$04$gEiMEBCxjhspTHee5fkOjuCGarHgSlqvvW5wBjF0zoo.ME3071zom' },
  gcp: {
    username: '_json_key',
    password: '{"type":"service_account","project_id":"test"}',
    hash: '$2b$04$25Ab1RdkudobYTYKIbsME.a3sGAFSZHMzFcgb0LPELY5hOBpT/plq',
  },
  aws: { username: 'AWS', password: 'ecr-password', hash: '$2b$04$GbGx8kjsBs1KSRY.Cb9R7.L7.rqyUw4A7viYqugFqVsEiC.r.nIUm' },
} as const

/** A real registry with a password, on a loopback port, which the engine reaches without TLS. */
export class TestRegistry implements AsyncDisposable {
  /** `127.0.0.1:<port>`. */
  readonly host: string
  readonly #end: () => Promise<void>

  private constructor(host: string, end: () => Promise<void>) {
    this.host = host
    this.#end = end
  }

  static async open(): Promise<TestRegistry> {
    const program = await debianProgram('docker-registry')
    const folder = await mkdtemp(join(tmpdir(), 'sandyard-registry-'))
    await writeFile(
      join(folder, 'htpasswd'),
      Object.values(ACCOUNTS)
        .map(({ username, hash }) => `${username}:${hash}\n`)
        .join(''),
    )
    await writeFile(join(folder, 'config.yml'), configOf(folder))
    const child = spawn(program, ['serve', join(folder, 'config.yml')], { stdio: ['ignore', 'ignore', 'pipe'] })
    const ended = once(child, 'exit')
    const end = async (): Promise<void> => {
      child.kill('SIGKILL')
      await ended
      await rm(folder, { recursive: true })
    }
    const lines = createInterface({ input: child.stderr })
    for await (const line of lines) {
      const host = /listening on (127\.0\.0\.1:\d+)/.exec(line)?.[1]
      if (host === undefined) continue
      child.stderr.resume()
      return new TestRegistry(host, end)
    }
    await end()
    throw new Error('the registry did not start')
  }

  /** Pushes an image of the engine to the registry, and leaves no name of it on the engine. */
  async push(docker: Docker, image: string, path: string): Promise<void> {
    const repo = `${this.host}/${path}`
    await docker.getImage(image).tag({ repo, tag: 'v1' })
    const { username, password } = ACCOUNTS.docker
    const answer = await docker.getImage(`${repo}:v1`).push({ tag: 'v1', authconfig: { username, password, serveraddress: this.host } })
    await followAnswer(answer)
    await docker.getImage(`${repo}:v1`).remove()
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#end()
  }
}

function configOf(folder: string): string {
  return [
    'version: 0.1',
    'log: { level: info }',
    `storage: { filesystem: { rootdirectory: ${folder}/data } }`,
    `auth: { htpasswd: { realm: test, path: ${folder}/htpasswd } }`,
    'http: { addr: "127.0.0.1:0" }',
    '',
  ].join('\n')
}
