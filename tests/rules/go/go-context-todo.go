package shop

func open(ctx context.Context) {
	listen(context.TODO()) // expect
	ctx, cancel := context.WithCancel(context.TODO()) // expect
	go serve(context.TODO(), 80) // expect
	listen(ctx) // ok: the caller's
	listen(context.Background()) // ok: says that there is none
	listen(todo.TODO()) // ok: some other function
}
