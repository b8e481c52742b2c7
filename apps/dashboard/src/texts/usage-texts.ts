/** The texts of screens/usage. */
export const usageTexts = {
  title: 'Usage',
}
