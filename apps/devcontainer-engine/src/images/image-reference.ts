import { AppError } from '@sandyard/kit/errors/app-error'

/** As Docker completes a name: `ubuntu` is `docker.io/library/ubuntu:latest`. Of a tag and a digest the digest stays, as it decides. */
export function completeReference(reference: string): string {
  if (!/^[\w./:@-]{1,512}$/.test(reference)) throw new AppError('invalid_argument', `'${reference}' is not the name of an image`)
  const [first = '', ...rest] = reference.split('/')
  const hasHost = rest.length > 0 && (/[.:]/.test(first) || first === 'localhost')
  const host = hasHost ? first : 'docker.io'
  const named = hasHost ? rest.join('/') : rest.length > 0 ? reference : `library/${reference}`
  // skopeo takes no name with both.
  const path = named.replace(/:[^/:@]+@/, '@')
  const isTagged = path.includes('@') || /:[^/]*$/.test(path)
  return `${host}/${path}${isTagged ? '' : ':latest'}`
}

/** A registry on loopback speaks plain HTTP, as it may with Docker. */
export function isOnLoopback(completed: string): boolean {
  return /^(localhost|127\.\d+\.\d+\.\d+)(:\d+)?\//.test(completed)
}
