import { ContainerStore } from './containers/container-store.ts'
import { ImageStore } from './images/image-store.ts'
import type { EngineConfig } from './config.ts'

export interface Engine {
  readonly config: EngineConfig
  readonly images: ImageStore
  readonly containers: ContainerStore
  readonly environment: NodeJS.ProcessEnv
  /** To standard output. */
  readonly print: (line: string) => void
}

export function openEngine(config: EngineConfig, environment: NodeJS.ProcessEnv): Engine {
  return {
    config,
    images: new ImageStore(config.directory),
    containers: new ContainerStore(config.directory),
    environment,
    print: (line) => void process.stdout.write(`${line}\n`),
  }
}
