import type { DockerRuntime } from '../../src/docker-runtime.ts'
import type { DockerRuntimeOptions } from '../../src/runtime-options.ts'
import { EngineBench } from './engine-bench.ts'
import { OUTSIDE, OutsideWorld, type Bystander } from './outside-world.ts'
import { ensureToolImage } from './test-images.ts'

/** An engine with the outside world. `stack` ends both. */
export interface OutsideBench {
  readonly bench: EngineBench
  readonly world: OutsideWorld
  readonly runtime: DockerRuntime
  /** For sandboxes: it has all tools that root needs to change rules. */
  readonly image: string
  /** A container on another network, without rules. It reaches each address that a test expects to be closed for a sandbox. */
  readonly witness: Bystander
}

export interface OutsideBenchOptions extends Partial<DockerRuntimeOptions> {
  /** Builds the image of the sandboxes. Default: the image with the tools. */
  readonly buildImage?: (bench: EngineBench) => Promise<string>
}

/** Opens a runtime whose sandboxes ask the resolver outside, and the outside world. */
export async function openOutsideBench(
  stack: AsyncDisposableStack,
  { buildImage, ...options }: OutsideBenchOptions = {},
): Promise<OutsideBench> {
  const bench = stack.use(await EngineBench.open())
  const image = await (buildImage?.(bench) ?? ensureToolImage(bench.docker))
  const runtime = await bench.runtime({ resolvers: [OUTSIDE.resolver], ...options })
  const world = stack.use(await OutsideWorld.open({ docker: bench.docker, toolImage: image, volume: bench.volume }))
  return { bench, world, runtime, image, witness: await world.bystander('bridge') }
}
