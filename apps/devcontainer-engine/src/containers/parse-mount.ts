import { isAbsolute } from 'node:path'
import { AppError } from '@sandyard/kit/errors/app-error'

export interface MountRequest {
  readonly type: 'bind' | 'volume'
  readonly source: string
  readonly target: string
}

/** `--mount type=bind,source=...,target=...` */
export function parseMount(text: string): MountRequest {
  const fields = new Map<string, string>()
  for (const field of text.split(',')) {
    const [key = '', ...rest] = field.split('=')
    fields.set(key === 'src' ? 'source' : key === 'dst' || key === 'destination' ? 'target' : key, rest.join('='))
  }
  // How a Mac caches the folder; it means nothing on Linux.
  fields.delete('consistency')
  const { type = 'volume', source, target, ...others } = Object.fromEntries(fields)
  const [other] = Object.keys(others)
  if (other !== undefined) throw new AppError('unimplemented', `docker run: a mount with '${other}' is not supported: ${text}`)
  if (type !== 'bind' && type !== 'volume')
    throw new AppError('unimplemented', `docker run: a mount of the type '${type}' is not supported: ${text}`)
  return check({ type, source: source ?? '', target: target ?? '' }, text)
}

/** `-v source:target` */
export function parseVolume(text: string): MountRequest {
  const [source = '', target = '', mode] = text.split(':')
  if (mode !== undefined && !['rw', 'cached', 'delegated', 'consistent'].includes(mode))
    throw new AppError('unimplemented', `docker run: a mount with '${mode}' is not supported: ${text}`)
  return check({ type: isAbsolute(source) ? 'bind' : 'volume', source, target }, text)
}

function check(mount: MountRequest, text: string): MountRequest {
  const isNamed = mount.type === 'bind' ? isAbsolute(mount.source) : /^[a-zA-Z0-9][\w.-]*$/.test(mount.source)
  // proot splits its option at colons.
  const paths = [mount.source, mount.target]
  if (!isNamed || !isAbsolute(mount.target) || paths.some((path) => path.includes(':')))
    throw new AppError('invalid_argument', `docker run: this mount needs a source and an absolute target, without colons: ${text}`)
  return mount
}
