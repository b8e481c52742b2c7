import { randomId } from '@sandyard/kit/ids/ids'
import { removeContainer } from '../../../packages/runtime-docker/src/containers/remove-container.ts'
import type { EngineBench } from '../../../packages/runtime-docker/test/support/engine-bench.ts'

type Engine = EngineBench['docker']
type Options = Parameters<Engine['createContainer']>[0]
type Container = Awaited<ReturnType<Engine['createContainer']>>

/** Plain containers, outside of every sandbox. They are removed at the end. */
export class Containers implements AsyncDisposable {
  readonly #docker: Engine
  readonly #containers: Container[] = []

  constructor(docker: Engine) {
    this.#docker = docker
  }

  async start(options: Options): Promise<Container> {
    const container = await this.#docker.createContainer({
      name: `sandyard-test-${randomId(8)}`,
      User: '0',
      Entrypoint: [],
      Tty: true,
      ...options,
    })
    this.#containers.push(container)
    await container.start()
    return container
  }

  /** Runs a container to its end and returns its output. */
  async run(options: Options): Promise<string> {
    const container = await this.start(options)
    await container.wait()
    return outputOf(container)
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { id } of this.#containers) await removeContainer(this.#docker, id)
  }
}

export async function outputOf(container: Container): Promise<string> {
  const bytes = await container.logs({ stdout: true, stderr: true })
  return bytes.toString('utf8').replaceAll('\r\n', '\n')
}
