import { Type } from 'typebox'

export const VolumeParams = Type.Object({ volumeID: Type.String() })
