import { Type } from 'typebox'

/** Any text: one that is no UUID has an error text of its own. */
export const ApiKeyParams = Type.Object({ apiKeyID: Type.String() })

export const TeamApiKeyParams = Type.Object({ teamID: Type.String(), apiKeyID: Type.String() })

export const AccessTokenParams = Type.Object({ accessTokenID: Type.String() })
