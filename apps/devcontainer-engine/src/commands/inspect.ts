import { AppError } from '@sandyard/kit/errors/app-error'
import { parseOptions, value } from '../command-line/parse-options.ts'
import type { Container } from '../containers/container.ts'
import { isRunning } from '../containers/main-process.ts'
import type { Engine } from '../engine.ts'
import type { Image } from '../images/image.ts'

export async function inspect(engine: Engine, args: readonly string[]): Promise<void> {
  const options = parseOptions({ command: 'docker inspect', options: { type: value('--type') } }, args)
  const type = options.last('type')
  if (type !== 'image' && type !== 'container') throw new AppError('unimplemented', 'docker inspect: give --type image or --type container')
  const views = []
  for (const word of options.words) {
    views.push(
      type === 'image' ? toImageView(await engine.images.get(word), word) : await toContainerView(await engine.containers.get(word)),
    )
  }
  engine.print(JSON.stringify(views, undefined, 2))
}

function toImageView({ id, createdAt, os, architecture, config }: Image, name: string): object {
  return {
    Id: id,
    RepoTags: [name],
    Created: createdAt,
    Os: os,
    Architecture: architecture,
    Config: { ...config, Labels: config.Labels ?? {} },
  }
}

async function toContainerView(container: Container): Promise<object> {
  const { id, name, createdAt, image, imageId, config, mounts, main } = container
  const Running = await isRunning(container)
  const Status = Running ? 'running' : main === undefined ? 'created' : 'exited'
  return {
    Id: id,
    Name: `/${name}`,
    Created: createdAt,
    Image: imageId,
    State: { Status, Running, Pid: Running ? main?.pid : 0, StartedAt: main?.startedAt ?? '0001-01-01T00:00:00Z' },
    Config: { ...config, Image: image, Labels: config.Labels ?? {} },
    Mounts: mounts.map(({ type, source, target, name }) => ({ Type: type, Source: source, Destination: target, Name: name, RW: true })),
    NetworkSettings: { Ports: {} },
  }
}
