import { isAppError, type AppError } from '@sandyard/kit/errors/app-error'

/** The refusal of rules by nftables; undefined when they are in force. @throws other errors */
export async function refused(apply: () => Promise<void>): Promise<AppError | undefined> {
  try {
    await apply()
    return undefined
  } catch (err) {
    if (isAppError(err, 'internal')) return err
    throw err
  }
}
