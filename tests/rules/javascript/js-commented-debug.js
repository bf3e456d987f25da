function order(basket) {
  // console.log("basket", basket); // expect
  // console.debug(basket.items) // expect
  // debugger; // expect
  return basket;
}

function safe(basket) {
  console.log(basket); // ok: no comment
  // Prints the basket with console.log(basket) in development. ok: a sentence
  // debugger stops here if the tools are open. ok: a sentence
  // Uncomment this to debug the prices:
  // console.log(basket.prices); // ok: kept on purpose
  // log.info(basket); ok: not for debugging
  return basket;
}
