/** The texts of screens/keys. */
export const keysTexts = {
  title: 'Keys',
}
