import { ARCHIVE_LIMITS } from '@sandyard/kit/archive/entry-rules'
import { AppError } from '@sandyard/kit/errors/app-error'
import { addUser } from './accounts/add-user.ts'
import { copy } from './copy/copy.ts'
import { finalize } from './finalize.ts'
import type { Image } from './image.ts'
import { makeDirectory } from './make-directory.ts'
import { provision } from './provision.ts'
import { Request } from './read-request.ts'

type Command = (image: Image, request: Request) => void | Promise<void>

const COMMANDS: Readonly<Record<string, Command>> = {
  provision: (image, request) => provision(image, { user: request.text('user'), installPackages: request.flag('installPackages') }),
  'add-user': (image, request) => addUser(image, { name: request.text('name'), sudo: request.flag('sudo') }),
  'make-directory': (image, request) => makeDirectory(image, { path: request.text('path'), user: request.text('user') }),
  copy: (image, request) => copy(image, readCopyRequest(request)),
  finalize: (image, request) => finalize(image, { user: request.text('user') }),
}

/**
 * Runs one command of the tool that prepares an image from inside a sandbox. It runs as root, in any image, and needs nothing of it.
 *
 * @throws AppError with the sentence for the log of the build; the file system's errors
 */
export async function runCommand(name: string, text: string, place: Omit<Image, 'root'>): Promise<void> {
  const command = Object.hasOwn(COMMANDS, name) ? COMMANDS[name] : undefined
  if (command === undefined) throw new AppError('invalid_argument', `there is no command '${name}'`)
  const request = new Request(text)
  // Tests use a directory of their own as the root.
  await command({ ...place, root: request.optionalText('root') ?? '/' }, request)
}

function readCopyRequest(request: Request): Parameters<typeof copy>[1] {
  return {
    archive: request.text('archive'),
    source: request.text('source'),
    destination: request.text('destination'),
    workdir: request.optionalText('workdir'),
    user: request.text('user'),
    owner: request.optionalText('owner') ?? '',
    mode: request.optionalText('mode') ?? '',
    limits: {
      maxBytes: request.count('maxUnpackedBytes', ARCHIVE_LIMITS.maxBytes),
      maxEntries: request.count('maxEntries', ARCHIVE_LIMITS.maxEntries),
    },
  }
}
