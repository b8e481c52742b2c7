import { Type, type Static } from 'typebox'

const volumeID = Type.String({ description: 'Id of the volume, a UUID' })
const name = Type.String({ description: 'Name of the volume, unique in its team: letters, digits, "-" and "_", at most 128' })

/** Body of `POST /volumes` (control-plane.md 15.2). */
export const NewVolume = Type.Object({ name }, { title: 'NewVolume' })
export type NewVolume = Static<typeof NewVolume>

export const Volume = Type.Object({ volumeID, name }, { title: 'Volume' })
export type Volume = Static<typeof Volume>

/** The answer of `POST /volumes` and `GET /volumes/{volumeID}` (control-plane.md 15.2). */
export const VolumeAndToken = Type.Object(
  { volumeID, name, token: Type.String({ description: 'Credential of the content of the volume, valid for an hour' }) },
  { title: 'VolumeAndToken' },
)
export type VolumeAndToken = Static<typeof VolumeAndToken>
