"""The live page: herded Gibbs in the browser, to the same bits, and a server that shows it."""
