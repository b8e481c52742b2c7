import { STAND_IN_LABEL, SOURCES_LABEL, type StandIn } from './stand-in.ts'

/** `theirs` is an image that this project did not make, as a pulled one: it is never replaced or removed. */
export type ImageState = 'missing' | 'theirs' | 'current' | 'outdated'

/** What `makeDebianImage` writes. All other stand-ins have their own name, because they inherit this one. */
const DEBIAN_MARK = 'mmdebstrap'

/** @param labels those of the image on the engine; undefined without one */
export function imageState(standIn: StandIn, labels: Readonly<Record<string, string>> | undefined, sources: string): ImageState {
  if (labels === undefined) return 'missing'
  if (standIn.recipe === 'debian') return labels[STAND_IN_LABEL] === DEBIAN_MARK ? 'current' : 'theirs'
  if (labels[STAND_IN_LABEL] !== standIn.image) return 'theirs'
  return labels[SOURCES_LABEL] === sources ? 'current' : 'outdated'
}
